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
        newer = "sk_" + base64.urlsafe_b64encode(bytes(range(1, 41))).decode().rstrip("=")
        with self.assertRaises(kopeck.WebhookError) as refused:
            kopeck.WebhookVerifier(SECRET, sealing_key=newer).verify(headers, body.encode(), now=NOW)
        unknown = "sealed under key 0001020304050607, which this verifier does not have: was the sealing key rotated?"
        self.assertIn(unknown, str(refused.exception))
        self.assertEqual(refused.exception.reason, "sealed")
        both = kopeck.WebhookVerifier(SECRET, sealing_key=newer, also_open_with=[key])
        self.assertEqual(both.verify(headers, body.encode(), now=NOW).data, {"idCard": "x"})

    def test_with_a_sealing_key_an_event_in_clear_is_refused(self) -> None:
        key = SealingKey(bytes(8), bytes(32))
        texts: list[dict[str, object]] = [{}, {"sealed": None}, {"sealed": False}, {"sealed": "s1.x"}, {"sealed": {}}]
        for sealed in texts:
            with self.subTest(sealed):
                body = json.dumps({**EVENT, **sealed})
                headers = self.headers(body, datetime.fromtimestamp(NOW, timezone.utc))
                with self.assertRaises(kopeck.WebhookError) as refused:
                    kopeck.WebhookVerifier(SECRET, sealing_key=key).verify(headers, body.encode(), now=NOW)
                self.assertEqual(refused.exception.reason, "sealed")
        body = json.dumps(EVENT)
        headers = self.headers(body, datetime.fromtimestamp(NOW, timezone.utc))
        told_otherwise = kopeck.WebhookVerifier(SECRET, sealing_key=key, require_sealed=False)
        self.assertEqual(told_otherwise.verify(headers, body.encode(), now=NOW).data, {"idCard": "x"})

    def test_a_stranger_causes_no_other_error(self) -> None:
        body = json.dumps(EVENT)
        good = self.headers(body, datetime.fromtimestamp(NOW, timezone.utc))
        verifiers = (kopeck.WebhookVerifier(SECRET), kopeck.WebhookVerifier(SECRET, sealing_key=SealingKey(bytes(8), bytes(32))))
        # As ASGI servers, aiohttp and WSGI servers decode what is not ASCII, and what else a header may hold.
        odd = ("\udcff", "\u00ff", "\ud800", "ё", "\0", "", " ", "-1", "1e3", "٣", "9" * 400, "v1,", "v1,\udcff", "v1,ё", "v1,=")
        for verifier in verifiers:
            for name in good:
                for value in odd:
                    with self.subTest((name, value)), self.assertRaises(kopeck.WebhookError) as refused:
                        verifier.verify({**good, name: value}, body.encode(), now=NOW)
                    self.assertIn(refused.exception.reason, ("header", "timestamp", "signature"))
            for bytes_ in (b"", b"\xff\xfe", b"\0", b"[" * 100_000, body.encode("utf-16")):
                with self.subTest(bytes_[:8]), self.assertRaises(kopeck.WebhookError) as refused:
                    verifier.verify(good, bytes_, now=NOW)
                self.assertEqual(refused.exception.reason, "signature")

    def test_secrets_have_a_form(self) -> None:
        for secrets in ((), ("whsec_?",), ("",), ("whsec_",), ("whsec_AQE=",), (SECRET.removeprefix("whsec_"),)):
            with self.assertRaises(ValueError):
                kopeck.WebhookVerifier(*secrets)

    def headers(self, body: str, at: datetime) -> dict[str, Any]:
        signature = Independent(SECRET).sign(str(EVENT["id"]), at, body)
        stamp = str(int(at.timestamp()))
        return {"webhook-id": EVENT["id"], "Webhook-Timestamp": stamp, "webhook-signature": signature}
