"""The format, against the vectors and forgeries that all implementations share."""

from __future__ import annotations

import base64
import json
import unittest
from pathlib import Path
from typing import Any

from kopeck.errors import ConfigError, SealingError
from kopeck.sealing import (
    Context,
    EventContext,
    RequestContext,
    ResponseContext,
    SealingKey,
    bound_path,
    key_id_of,
    open_sealed,
    seal,
)

DATA = Path(__file__).parents[3] / "crates/sealing/tests/data"
KEY = SealingKey(bytes([7] * 8), bytes([8] * 32))
NONCE = "3f2a9c51e7d84b0fa6c2d1e45b907788"
NOW = 1_767_225_600


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((DATA / name).read_text())
    return cases


def key_of(case: dict[str, Any]) -> SealingKey:
    return SealingKey(bytes.fromhex(case["kid"]), bytes.fromhex(case["secret"]))


def context_of(case: dict[str, Any]) -> Context:
    if case["direction"] == "res":
        return ResponseContext(case["method"], case["path"], case["x_nonce"], case["status"])
    if case["direction"] == "evt":
        return EventContext(case["x_nonce"])
    # Backwards, so that the order of giving them is seen not to matter.
    clear = [(slot, value) for slot, value in reversed(case["clear"])]
    return RequestContext(case["method"], case["path"], case["x_nonce"], case["slot"], clear)


class Vectors(unittest.TestCase):
    def test_every_vector_is_sealed_and_opened(self) -> None:
        vectors = load("vectors.json")
        self.assertEqual(len(vectors), 18)
        for vector in vectors:
            with self.subTest(vector["name"]):
                key, context = key_of(vector), context_of(vector)
                salt = bytes.fromhex(vector["salt"])
                text = seal(key, context, vector["ts"], vector["plaintext"], salt=salt)
                self.assertEqual(text, vector["text"])
                self.assertEqual(open_sealed(key, context, vector["ts"], text), vector["plaintext"])
                self.assertEqual(key_id_of(text), key.key_id)

    def test_no_forgery_opens(self) -> None:
        forgeries = load("forgeries.json")
        self.assertEqual(len(forgeries), 45)
        # An `EventContext` has no path to move an event to.
        (moved,) = [forgery for forgery in forgeries if forgery["direction"] == "evt" and forgery["path"] != "/"]
        self.assertEqual(moved["why"], "an event moved to a path")
        forgeries.remove(moved)
        for forgery in forgeries:
            with self.subTest(forgery["why"]), self.assertRaises(SealingError):
                open_sealed(key_of(forgery), context_of(forgery), forgery["now"], forgery["text"])

    def test_no_changed_character_opens(self) -> None:
        vector = load("vectors.json")[0]
        key, context, text = key_of(vector), context_of(vector), vector["text"]
        for place, character in enumerate(text):
            other = "A" if character != "A" else "B"
            with self.subTest(place), self.assertRaises(SealingError):
                open_sealed(key, context, vector["ts"], text[:place] + other + text[place + 1 :])


class Rules(unittest.TestCase):
    def test_what_is_sealed_opens_whatever_its_length(self) -> None:
        context = RequestContext("POST", "/v1/category", NONCE, "body")
        for length in range(70):
            plaintext = "ж" * length + "\0" * (length % 3)
            self.assertEqual(open_sealed(KEY, context, NOW, seal(KEY, context, NOW, plaintext)), plaintext)

    def test_the_window_ends_after_300_seconds(self) -> None:
        context = ResponseContext("GET", "/v1/balance", NONCE, 200)
        text = seal(KEY, context, NOW, "{}")
        for inside in (NOW - 300, NOW + 300):
            self.assertEqual(open_sealed(KEY, context, inside, text), "{}")
        for outside in (0, NOW - 301, NOW + 301):
            with self.assertRaises(SealingError):
                open_sealed(KEY, context, outside, text)

    def test_an_answer_opens_with_its_own_status_only(self) -> None:
        text = seal(KEY, ResponseContext("GET", "/v1/balance", NONCE, 404), NOW, "{}")
        with self.assertRaises(SealingError):
            open_sealed(KEY, ResponseContext("GET", "/v1/balance", NONCE, 200), NOW, text)

    def test_an_event_bound_to_a_path_does_not_open(self) -> None:
        class MovedEvent(EventContext):
            def _associated_data(self, header: bytes) -> bytes:
                return RequestContext("POST", "/v1", self.nonce, "body")._associated_data(header)

        text = seal(KEY, EventContext(NONCE), NOW, "{}")
        self.assertEqual(open_sealed(KEY, EventContext(NONCE), NOW, text), "{}")
        with self.assertRaises(SealingError):
            open_sealed(KEY, EventContext(NONCE), NOW, seal(KEY, MovedEvent(NONCE), NOW, "{}"))

    def test_a_parameter_may_have_512_characters(self) -> None:
        context = RequestContext("GET", "/v1/card/*", NONCE, "path:idCard")
        with self.assertRaisesRegex(SealingError, "too long"):
            open_sealed(KEY, context, NOW, seal(KEY, context, NOW, "x" * 400))

    def test_paths_are_bound_without_query_slash_and_sealed_segments(self) -> None:
        for called, bound in (
            ("/v1/employees", "/v1/employees"),
            ("/v1/order/confirm/", "/v1/order/confirm"),
            ("/v1/replenishment/status/?idReplenishment=s1.abc", "/v1/replenishment/status"),
            ("/v1/card/s1.AaGy/transactions?page=2", "/v1/card/*/transactions"),
        ):
            self.assertEqual(bound_path(called), bound)

    def test_a_key_is_read_from_its_text_and_shows_no_secret(self) -> None:
        key = SealingKey.parse("sk_" + base64.urlsafe_b64encode(bytes([7] * 8 + [8] * 32)).decode().rstrip("="))
        self.assertEqual(key.key_id, KEY.key_id)
        context = ResponseContext("GET", "/v1/balance", NONCE, 200)
        self.assertEqual(open_sealed(key, context, NOW, seal(KEY, context, NOW, "{}")), "{}")
        self.assertEqual(repr(key), "SealingKey(0707070707070707)")
        for bad in ("", "sk_", "sk_" + "A" * 53, "sk_" + "A" * 55, "AAAA"):
            with self.assertRaises(ConfigError):
                SealingKey.parse(bad)


if __name__ == "__main__":
    unittest.main()
