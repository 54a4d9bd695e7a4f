"""Tests a receiver of webhooks: starts it, and sends what a service and what others would send.

    receivers.py COMMAND…

The receiver gets its secret as KOPECK_WEBHOOK_SECRET, prints `http://…/kopeck` once it listens, and then a line for each event
that it handles.
"""

from __future__ import annotations

import datetime
import json
import os
import queue
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import uuid

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


def play(url: str, lines: queue.Queue[str]) -> None:
    def expect(status: int, headers: dict[str, str], body: str, what: str) -> None:
        got = post(url, headers, body)
        if got != status:
            sys.exit(f"{what}: {got}, where {status} is right")

    first = event("balance.deposited", {"amount": 5000, "reference": None})
    last = event("card.melted", {"degrees": 961})
    expect(204, signed(first), first, "a delivery")
    for _ in range(2):
        expect(204, signed(first), first, "a delivery that is repeated")
    expect(400, signed(first, OTHER), first, "a delivery under another secret")
    expect(400, signed(first), first.replace("5000", "9000"), "a delivery with another amount")
    expect(400, signed(first, ago=600), first, "a delivery of ten minutes ago")
    expect(400, {}, first, "a request without a signature")
    expect(204, signed(last), last, "an event of a type that is not known")
    handled = [lines.get(timeout=PATIENCE) for _ in range(2)]
    if [line.split()[0] for line in handled] != ["balance.deposited", "card.melted"] or not lines.empty():
        sys.exit(f"handled: {handled}")


def main() -> None:
    settings = {**os.environ, "KOPECK_WEBHOOK_SECRET": SECRET, "PORT": "0"}
    receiver = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True, env=settings)
    lines: queue.Queue[str] = queue.Queue()
    assert receiver.stdout is not None
    output = receiver.stdout
    threading.Thread(target=lambda: [lines.put(line) for line in output], daemon=True).start()
    try:
        address = re.search(r"http://\S+", lines.get(timeout=PATIENCE))
        if address is None:
            sys.exit("the receiver names no address")
        play(address[0], lines)
    finally:
        receiver.kill()
        receiver.wait()
    print("it handled each event once, and refused what was forged")


main()
