"""Sealed calls as they go over the wire, and answers that are refused."""

from __future__ import annotations

import json
import re
import time
import unittest
from uuid import UUID

from kopeck import RetryPolicy, SealingError, SealingKey, operations
from kopeck.call import Sealing, call_of
from kopeck.sealing import RequestContext, ResponseContext, bound_path, open_sealed, seal
from tests.stub import TOKEN_PATHS, OverAsyncio, Reply, Seen, Stub

KEY = SealingKey(bytes([1] * 8), bytes([2] * 32))
NEXT = SealingKey(bytes([3] * 8), bytes([4] * 32))
ID = UUID("0f8fad5b-d9cb-469f-a165-70867728950e")
EMPTY = {"data": [], "meta": {"current_page": 1, "from": None, "to": None, "last_page": 1, "per_page": 15}}
PAIR = {"accessToken": "a", "accessExpireAt": 4_000_000_000, "refreshToken": "r", "refreshExpireAt": 4_100_000_000}


def sealed(seen: Seen, body: object, *, status: int = 200, key: SealingKey = KEY) -> Reply:
    context = ResponseContext(seen.method, bound_path(seen.target), seen.headers["x-nonce"], status)
    text = seal(key, context, int(time.time()), json.dumps(body))
    return Reply(status, {"sealed": text}, {"content-type": "application/sealed+json"})


def answer(seen: Seen) -> Reply:
    return sealed(seen, PAIR if seen.path in TOKEN_PATHS else {**EMPTY, "idCategory": str(ID), "nameCategory": "N"})


def opened(seen: Seen, slot: str, text: str) -> str:
    context = RequestContext(seen.method, bound_path(seen.target), seen.headers["x-nonce"], slot)
    return open_sealed(KEY, context, int(time.time()), text)


class Sealed(unittest.TestCase):
    def test_bodies_and_parameters_are_sealed(self) -> None:
        with Stub(answer, tokens=answer) as stub, stub.client(sealing_key=KEY) as client:
            client.categories.rename(ID, "Ё")
            client.cards.transactions(ID, page=2)
            login, rename, transactions = stub.seen
        self.assertIn('"hunter2"', opened(login, "body", json.loads(login.body)["sealed"]))
        self.assertEqual(rename.headers["content-type"], "application/sealed+json")
        self.assertEqual(rename.headers["accept"], "application/sealed+json")
        self.assertEqual(opened(rename, "body", json.loads(rename.body)["sealed"]), '{"nameCategory":"Ё"}')
        self.assertEqual(opened(rename, "path:idCategory", rename.path.split("/")[3]), str(ID))
        query = transactions.target.partition("?sealed=")[2]
        self.assertEqual(opened(transactions, "query", query), '{"page":2}')

    def test_parameters_travel_clear_if_wanted_and_bodies_are_bound_to_them(self) -> None:
        with Stub(answer, tokens=answer) as stub, stub.client(sealing_key=KEY, seal_parameters=False) as client:
            client.categories.rename(ID, "N")
            (rename,) = stub.calls()
        self.assertEqual(rename.target, f"/v1/category/{ID}")
        opened(rename, "body", json.loads(rename.body)["sealed"])

    def test_a_change_without_a_body_has_its_identifiers_sealed(self) -> None:
        def erased(seen: Seen) -> Reply:
            return sealed(seen, PAIR if seen.path in TOKEN_PATHS else {"idEmployee": str(ID), "idCard": str(ID)})

        with Stub(erased, tokens=erased) as stub, stub.client(sealing_key=KEY) as client:
            client.employees.erase(ID)
            client.cards.unlink(ID, ID)
            erase, unlink = stub.calls()
        self.assertEqual(opened(erase, "path:idEmployee", erase.path.split("/")[3]), str(ID))
        self.assertEqual(opened(unlink, "path:idEmployee", unlink.path.split("/")[3]), str(ID))
        self.assertEqual(opened(unlink, "path:idCard", unlink.path.split("/")[5]), str(ID))

    def test_every_change_seals_its_body_or_its_path(self) -> None:
        sealing = Sealing(KEY, (), parameters=False, answers=True)
        for name, operation in vars(operations).items():
            if not isinstance(operation, operations.Operation) or operation.method == "GET":
                continue
            ids = (ID,) * operation.path.count("{")
            with self.subTest(name):
                bare = sealing.render(call_of(operation, ids, None, None, None), "n" * 16, 1)
                self.assertEqual(bare.target.count("/s1."), len(ids) if operation.changes else 0)
                whole = sealing.render(call_of(operation, ids, None, {}, None), "n" * 16, 1)
                self.assertNotIn("s1.", whole.target)

    def test_an_answer_opens_under_any_of_the_keys_and_for_its_call_only(self) -> None:
        def under_next(seen: Seen) -> Reply:
            return sealed(seen, PAIR if seen.path in TOKEN_PATHS else EMPTY, key=NEXT)

        with Stub(under_next, tokens=under_next) as stub:
            with stub.client(sealing_key=KEY, also_open_with=[NEXT]) as client:
                self.assertEqual(client.categories.list().data, ())
            unknown = "sealed under key 0303030303030303, which this client does not have: was the sealing key rotated?"
            with stub.client(sealing_key=KEY) as client, self.assertRaisesRegex(SealingError, re.escape(unknown)):
                client.categories.list()

        def as_another_status(seen: Seen) -> Reply:
            return Reply(200, sealed(seen, EMPTY, status=404).body, {"content-type": "application/sealed+json"})

        with Stub(as_another_status, tokens=answer) as stub, stub.client(sealing_key=KEY) as client:
            with self.assertRaises(SealingError):
                client.categories.list()
            self.assertEqual(len(stub.calls()), 1)

    def test_a_success_in_clear_is_refused_unless_it_was_wanted(self) -> None:
        clear = lambda seen: Reply(200, PAIR if seen.path in TOKEN_PATHS else EMPTY)  # noqa: E731
        with Stub(clear, tokens=clear) as stub:
            with stub.client(sealing_key=KEY, retry=RetryPolicy.none()) as client:
                with self.assertRaisesRegex(SealingError, "in clear"):
                    client.categories.list()
            with stub.client(sealing_key=KEY, seal_answers=False) as client:
                self.assertEqual(client.categories.list().data, ())


class AsyncSealed(OverAsyncio, Sealed):
    pass


if __name__ == "__main__":
    unittest.main()
