"""Tests a receiver of webhooks: starts it, and sends what a service and what others would send. Then a service of its own
delivers to it the events of a partner that has to seal, as `partner create` makes one.

    receivers.py KOPECK COMMAND…

KOPECK is the binary of the service. The receiver gets its secret as KOPECK_WEBHOOK_SECRET, and the partner's sealing key as
KOPECK_SEALING_KEY; it prints `http://…/kopeck` once it listens, and then a line for each event that it handles.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator

import kopeck
from standardwebhooks import Webhook

SECRET = "whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
OTHER = "whsec_AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
PATIENCE = 60


def post(url: str, headers: dict[str, str], body: str) -> int:
    request = urllib.request.Request(url, body.encode(), {"content-type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def signed(body: str, secret: str = SECRET, ago: int = 0) -> dict[str, str]:
    at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=ago)
    name = json.loads(body)["id"]
    signature = Webhook(secret).sign(name, at, body)
    return {"webhook-id": name, "webhook-timestamp": str(int(at.timestamp())), "webhook-signature": signature}


def event(event_type: str, data: object) -> str:
    fields = {"id": str(uuid.uuid4()), "seq": 7, "type": event_type, "createdAt": "2026-01-31T09:30:00Z"}
    return json.dumps({**fields, "data": data})


def expect(url: str, status: int, headers: dict[str, str], body: str, what: str) -> None:
    got = post(url, headers, body)
    if got != status:
        sys.exit(f"{what}: {got}, where {status} is right")


def play(url: str, lines: queue.Queue[str]) -> None:
    first = event("balance.deposited", {"amount": 5000, "reference": None})
    last = event("card.melted", {"degrees": 961})
    expect(url, 204, signed(first), first, "a delivery")
    for _ in range(2):
        expect(url, 204, signed(first), first, "a delivery that is repeated")
    expect(url, 400, signed(first, OTHER), first, "a delivery under another secret")
    expect(url, 400, signed(first), first.replace("5000", "9000"), "a delivery with another amount")
    expect(url, 400, signed(first, ago=600), first, "a delivery of ten minutes ago")
    expect(url, 400, {}, first, "a request without a signature")
    # As Latin-1, which is what a client can send: no text in UTF-8.
    expect(url, 400, {**signed(first), "webhook-id": "\u00ff"}, first, "a header that is not ASCII")
    expect(url, 400, {**signed(first), "content-type": "text/plain"}, "?", "a body of another type")
    expect(url, 204, signed(last), last, "an event of a type that is not known")
    handled = [lines.get(timeout=PATIENCE) for _ in range(2)]
    if [line.split()[0] for line in handled] != ["balance.deposited", "card.melted"] or not lines.empty():
        sys.exit(f"handled: {handled}")


def play_required(service: str, partner: dict[str, str], command: list[str]) -> None:
    """As the book has it: a webhook of a partner that has to seal, the receiver with its secret and the sealing key, a ping."""
    credentials = {"api_key": partner["apiKey"], "login": partner["login"], "password": partner["password"]}
    with kopeck.Client(service, **credentials, sealing_key=partner["sealingKey"]) as client:
        webhook = client.webhooks.create("http://127.0.0.1:9/kopeck")
        if not webhook.sealed:
            sys.exit("events of a partner that has to seal are not sealed")
        settings = {"KOPECK_WEBHOOK_SECRET": webhook.secret, "KOPECK_SEALING_KEY": partner["sealingKey"], "PORT": "0"}
        with running(command, settings) as (url, lines):
            client.webhooks.update(webhook.id_webhook, url=url)
            client.webhooks.ping(webhook.id_webhook)
            handled = lines.get(timeout=PATIENCE)
            if handled.split()[0].lower() != "ping":
                sys.exit(f"handled: {handled}")
            until = time.monotonic() + PATIENCE
            while (delivery := client.webhooks.deliveries(webhook.id_webhook).data[0]).status != "DELIVERED":
                if time.monotonic() > until:
                    sys.exit(f"not delivered: {delivery}")
                time.sleep(0.1)
            forged = event("balance.deposited", {"amount": 99_999_999_900, "reference": None})
            expect(url, 400, signed(forged, webhook.secret), forged, "an event in clear, from someone with the secret alone")


@contextlib.contextmanager
def running(command: list[str], settings: dict[str, str], log: int | None = None) -> Iterator[tuple[str, queue.Queue[str]]]:
    """A process with these settings: the address that it prints, and what it prints after it. `log` is where its standard
    error goes."""
    environment = {**os.environ, **settings}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
    lines: queue.Queue[str] = queue.Queue()
    assert process.stdout is not None
    output = process.stdout
    threading.Thread(target=lambda: [lines.put(line) for line in output], daemon=True).start()
    try:
        while (address := re.search(r"http://127\.0\.0\.1:[1-9]\d*(/kopeck)?", lines.get(timeout=PATIENCE))) is None:
            pass
        yield address[0], lines
    finally:
        process.kill()
        process.wait()


def main() -> None:
    binary, *command = sys.argv[1:]
    with running(command, {"KOPECK_WEBHOOK_SECRET": SECRET, "PORT": "0"}) as (url, lines):
        play(url, lines)
    with tempfile.TemporaryDirectory() as folder:
        settings = {"KOPECK_DATABASE_URL": f"sqlite://{folder}/kopeck.sqlite", "KOPECK_SANDBOX": "true"}
        create = [binary, "partner", "create", "--name", "Receiver", "--json"]
        partner = json.loads(subprocess.check_output(create, text=True, env={**os.environ, **settings}))
        with running([binary, "serve", "--listen", "127.0.0.1:0"], settings, subprocess.STDOUT) as (service, _):
            play_required(service, partner, command)
    print("it handled each event once, refused what was forged, and opens the events of a partner that has to seal")


main()
