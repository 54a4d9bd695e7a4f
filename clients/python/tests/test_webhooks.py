"""Deliveries of webhooks, checked against another implementation of their specification too."""

from __future__ import annotations

import base64
import json
import unittest
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from standardwebhooks.webhooks import Webhook as Independent

import kopeck
from kopeck.sealing import EventContext, SealingKey, seal

VECTORS = json.loads((Path(__file__).parents[3] / "crates/client/webhooks.json").read_text("utf-8"))
EVENT = {
    **{"id": "0f8fad5b-d9cb-469f-a165-70867728950e", "seq": 4, "type": "newer"},
    **{"createdAt": "2026-02-07T09:05:00Z", "data": {"idCard": "x"}},
}
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
NOW = 1_770_455_100.0


class Deliveries(unittest.TestCase):
    def test_vectors(self) -> None:
        for vector in VECTORS["deliveries"]:
            with self.subTest(vector["about"]):
                verifier = kopeck.WebhookVerifier(*vector["secrets"])
                if vector["fault"] is None:
                    event = verifier.verify(vector["headers"], vector["body"].encode(), now=vector["now"])
                    self.assertEqual(str(event.id), vector["id"])
                else:
                    with self.assertRaises(kopeck.WebhookError) as refused:
                        verifier.verify(vector["headers"], vector["body"].encode(), now=vector["now"])
                    self.assertEqual(refused.exception.reason, vector["fault"])

    def test_signatures_of_another_implementation(self) -> None:
        body = json.dumps(EVENT)
        at = datetime.fromtimestamp(NOW, timezone.utc)
        event = kopeck.WebhookVerifier(SECRET).verify(self.headers(body, at), body.encode(), now=NOW)
        self.assertEqual((event.seq, event.type, event.data), (4, "newer", {"idCard": "x"}))

    def test_a_sealed_event_is_opened(self) -> None:
        key = SealingKey.parse("sk_" + base64.urlsafe_b64encode(bytes(range(40))).decode().rstrip("="))
        sealed = seal(key, EventContext(str(EVENT["id"])), int(NOW), json.dumps(EVENT["data"]))
        body = json.dumps({**{name: value for name, value in EVENT.items() if name != "data"}, "sealed": sealed})
        headers = self.headers(body, datetime.fromtimestamp(NOW, timezone.utc))
        verifier = kopeck.WebhookVerifier(SECRET, sealing_key=key)
        self.assertEqual(verifier.verify(headers, body.encode(), now=NOW).data, {"idCard": "x"})
        with self.assertRaisesRegex(kopeck.WebhookError, "no sealing key"):
            kopeck.WebhookVerifier(SECRET).verify(headers, body.encode(), now=NOW)

    def test_secrets_have_a_form(self) -> None:
        for secrets in ((), ("whsec_?",), ("",), ("whsec_",), ("whsec_AQE=",), (SECRET.removeprefix("whsec_"),)):
            with self.assertRaises(ValueError):
                kopeck.WebhookVerifier(*secrets)

    def headers(self, body: str, at: datetime) -> dict[str, Any]:
        signature = Independent(SECRET).sign(str(EVENT["id"]), at, body)
        stamp = str(int(at.timestamp()))
        return {"webhook-id": EVENT["id"], "Webhook-Timestamp": stamp, "webhook-signature": signature}
