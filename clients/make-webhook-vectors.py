"""Writes crates/client/webhooks.json, the deliveries that every client's verifier is tested with.

    python clients/make-webhook-vectors.py > crates/client/webhooks.json

The signatures are made by `standardwebhooks`, an implementation of the specification that is not ours.
"""

import base64
import json
from datetime import datetime, timezone

from standardwebhooks.webhooks import Webhook

SECRETS = ["whsec_" + base64.b64encode(bytes([first] * 32)).decode() for first in (1, 2, 3)]
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
BODY = json.dumps({"id": ID, "seq": 4, "type": "employee.created", "createdAt": "2026-02-07T09:05:00Z",
                   "data": {"idEmployee": ID, "customId": "Ёж-1"}}, ensure_ascii=False, separators=(",", ":"))
UNSEALED = BODY[:-1] + ',"sealed":null}'
NOW = 1_770_455_100


def signed(secret: str, at: int = NOW, body: str = BODY) -> str:
    return Webhook(secret).sign(ID, datetime.fromtimestamp(at, timezone.utc), body)


def vector(about, fault, secrets, signature, at=NOW, body=BODY, now=NOW, message=ID, leave_out=None):
    headers = {"webhook-id": message, "webhook-timestamp": str(at), "webhook-signature": signature}
    headers.pop(leave_out, None)
    return {"about": about, "fault": fault, "secrets": secrets, "headers": headers, "body": body, "now": now, "id": ID}


one, two, other = SECRETS
good = signed(one)
broken = good[:-2] + ("A=" if good[-2:] != "A=" else "B=")
print(json.dumps({"deliveries": [
    vector("one secret", None, [one], good),
    vector("the newer of two secrets", None, [two, one], signed(two)),
    vector("the former of two secrets", None, [two, one], good),
    vector("two signatures, of which one is known", None, [one], f"{signed(two)} {good}"),
    vector("a signature of a version to come", None, [one], f"v2,abc {good} v1a,x"),
    vector("five minutes old", None, [one], good, now=NOW + 300),
    vector("five minutes early", None, [one], good, now=NOW - 300),
    vector("older", "timestamp", [one], good, now=NOW + 301),
    vector("earlier", "timestamp", [one], good, now=NOW - 301),
    vector("another secret", "signature", [other], good),
    vector("another body", "signature", [one], good, body=BODY.replace("Ёж", "Уж")),
    vector("another identifier", "signature", [one], good, message="0" + ID[1:-1] + "f"),
    vector("another timestamp", "signature", [one], good, at=NOW + 1),
    vector("a broken signature", "signature", [one], broken),
    vector("a cut signature", "signature", [one], good[:-4]),
    vector("no signature", "signature", [one], ""),
    vector("another version alone", "signature", [one], good.replace("v1,", "v2,")),
    vector("without a version", "signature", [one], good.replace("v1,", "")),
    vector("no identifier", "header", [one], good, leave_out="webhook-id"),
    vector("no timestamp", "header", [one], good, leave_out="webhook-timestamp"),
    vector("no header of signatures", "header", [one], good, leave_out="webhook-signature"),
    vector("a timestamp that is no number", "header", [one], good, at="soon"),
    vector("a negative timestamp", "header", [one], good, at=-NOW),
    vector("an identifier that is not ASCII", "header", [one], good, message="ё" + ID[1:]),
    vector("an identifier in Latin-1", "header", [one], good, message="\u00ff" + ID[1:]),
    vector("signatures that are not ASCII", "header", [one], f"v1,ё {good}"),
    vector("a timestamp in other digits", "header", [one], good, at="١٧٧٠٤٥٥١٠٠"),
    vector("nothing sealed under the name of what is", "sealed", [one], signed(one, body=UNSEALED), body=UNSEALED),
    vector("no JSON", "body", [one], signed(one, body="hello"), body="hello"),
    vector("nested deeply", "body", [one], signed(one, body="[" * 5_000), body="[" * 5_000),
    vector("no event", "body", [one], signed(one, body='{"id":7}'), body='{"id":7}'),
]}, ensure_ascii=False, indent=1))
