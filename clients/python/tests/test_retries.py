"""A call tried again is the same call under the same key; waiting; errors."""

from __future__ import annotations

import json
import socket
import traceback
import unittest
from typing import Any
from unittest import mock

from kopeck import (
    ApiError,
    CallTimeoutError,
    CardsError,
    Client,
    ConfigError,
    DecodeError,
    ErrorCode,
    InvalidError,
    RequestState,
    RetryPolicy,
    TransportError,
    UnfinishedError,
    new_key,
)
from tests.stub import CUT, OverAsyncio, Reply, Seen, Stub, client_of, in_turn, patched

ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
CATEGORY = Reply(201, {"idCategory": ID, "nameCategory": "Лекторы"})
BUSY = Reply(503, {"success": False, "code": "bank_unavailable", "message": "later"})
LATE = Reply(408, {"success": False, "code": "request_timeout", "message": "the body did not arrive in time"})
IN_PROGRESS = Reply(409, {"code": "request_in_progress", "message": "wait"}, {"retry-after": "0"})


class Retries(unittest.TestCase):
    def test_every_retry_keeps_the_key_and_takes_a_new_nonce(self) -> None:
        for first in ((CUT, BUSY, IN_PROGRESS, Reply(500, "oops")), (LATE, Reply(408, "<h1>Timeout</h1>"), BUSY, LATE)):
            with Stub(in_turn(*first, then=CATEGORY)) as stub, stub.client() as client:
                self.assertEqual(client.categories.create("Лекторы").name_category, "Лекторы")
                self.one_request(stub.calls())

    def one_request(self, calls: list[Seen]) -> None:
        self.assertEqual(len(calls), 5)
        self.assertEqual(len({call.headers["x-nonce"] for call in calls}), 5)
        self.assertEqual(len({call.headers["idempotency-key"] for call in calls}), 1)
        self.assertEqual({call.body for call in calls}, {'{"nameCategory":"Лекторы"}'})

    def test_each_call_has_a_key_of_its_own_unless_given_one(self) -> None:
        with Stub(in_turn(then=CATEGORY)) as stub, stub.client() as client:
            client.categories.create("a")
            client.categories.create("a")
            client.categories.create("a", idempotency_key="payroll-7")
            first, second, third = (call.headers["idempotency-key"] for call in stub.calls())
            self.assertNotEqual(first, second)
            self.assertEqual(third, "payroll-7")
            for bad in ("", "with space", "ключ", "a" * 256, "a\n"):
                with self.assertRaises(ConfigError):
                    client.categories.create("a", idempotency_key=bad)

    def test_fresh_keys_begin_with_the_time(self) -> None:
        with mock.patch("time.time_ns", return_value=1_790_000_000_123_456_789):
            first, second = new_key(), new_key()
        for key in (first, second):
            self.assertRegex(key, r"^[0-9a-f]{32}$")
            self.assertEqual(int(key[:12], 16), 1_790_000_000_123)
        self.assertNotEqual(first, second)

    def test_retries_end_and_the_error_has_the_key_to_go_on_with(self) -> None:
        with Stub(in_turn(then=BUSY)) as stub, stub.client() as client:
            with self.assertRaises(ApiError) as caught:
                client.categories.create("a")
            calls = stub.calls()
        self.assertEqual(caught.exception.code, ErrorCode.BANK_UNAVAILABLE)
        self.assertTrue(caught.exception.is_transient)
        self.assertEqual(len(calls), 5)
        self.assertEqual({call.headers["idempotency-key"] for call in calls}, {caught.exception.idempotency_key})

    def test_what_will_not_pass_is_not_retried(self) -> None:
        for status, body in (
            (409, {"code": "category_exists", "message": "no"}),
            (404, {"code": "not_found", "message": "no"}),
            (422, {"data": [{"field": "nameCategory", "message": "incorrect value passed"}]}),
        ):
            with Stub(in_turn(then=Reply(status, body))) as stub, stub.client() as client:
                with self.assertRaises(ApiError) as caught:
                    client.categories.create("a")
                self.assertEqual((caught.exception.status, len(stub.calls())), (status, 1))

    def test_a_retry_after_is_obeyed_or_ends_the_call(self) -> None:
        policy = RetryPolicy(min_delay=0.1, max_delay=1, max_retry_after=30)
        asked = ApiError(429, None, "", retry_after=7.0)
        self.assertEqual(policy.delay(0, asked), 7.0)
        self.assertIsNone(policy.delay(0, ApiError(429, None, "", retry_after=31.0)))
        self.assertIsNone(policy.delay(4, asked))
        for retry, base in enumerate((0.1, 0.2, 0.4, 0.8)):
            delay = policy.delay(retry, CallTimeoutError())
            assert delay is not None
            self.assertTrue(base <= delay <= 2 * base)
        again = Reply(429, {"code": "too_many_requests", "message": "wait"}, {"retry-after": "7"})
        with Stub(in_turn(again, then=CATEGORY)) as stub, stub.client() as client:
            with mock.patch(patched("retrying.sleep")) as sleep:
                client.categories.create("a")
            sleep.assert_called_once_with(7.0)

    def test_a_service_that_is_not_there_was_not_sent_anything(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        with client_of(url, api_key="k", login="l", password="p", proxy="", retry=RetryPolicy.none()) as client:
            with self.assertRaises(TransportError) as caught:
                client.balance()
        self.assertFalse(caught.exception.sent)

    def test_a_silent_service_times_out(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
            given: Any = {"api_key": "k", "login": "l", "password": "p", "proxy": "", "retry": RetryPolicy.none()}
            with client_of(url, timeout=0.05, **given) as client, self.assertRaises(CallTimeoutError):
                client.balance()


class Waiting(unittest.TestCase):
    def test_it_tells_each_state_until_the_final_one(self) -> None:
        states = [Reply(200, {"message": state, "orderId": ID}) for state in ("NEW", "IN_PROCESS", "ON_HOLD")]
        done = Reply(200, {"message": "PART_SUCCESS", "orderId": ID})
        seen: list[RequestState] = []
        with Stub(in_turn(*states, then=done)) as stub, stub.client() as client:
            with mock.patch(patched("wait.sleep")) as sleep:
                state = client.orders.wait(ID, on_progress=seen.append)
        self.assertIs(state, RequestState.PART_SUCCESS)
        self.assertEqual([str(one) for one in seen], ["NEW", "IN_PROCESS", "ON_HOLD", "PART_SUCCESS"])
        self.assertEqual([call.args[0] for call in sleep.call_args_list], [0.25, 0.5, 1.0])

    def test_it_gives_up_with_the_state_seen_last(self) -> None:
        with Stub(in_turn(then=Reply(200, {"message": "NEW", "orderId": ID}))) as stub, stub.client() as client:
            with self.assertRaises(UnfinishedError) as caught:
                client.orders.wait(ID, timeout=0)
        self.assertIs(caught.exception.last, RequestState.NEW)


class Errors(unittest.TestCase):
    def error(self, status: int, body: object) -> ApiError:
        headers = {"x-request-id": "r-1", "retry-after": "61"}
        with Stub(in_turn(then=Reply(status, body, headers))) as stub, stub.client() as client:
            with self.assertRaises(ApiError) as caught:
                client.balance()
        self.assertEqual(caught.exception.request_id, "r-1")
        return caught.exception

    def test_faulty_fields_are_listed(self) -> None:
        faults = [
            {"field": "phone", "message": "incorrect value passed", "detail": "not 10 digits"},
            {"field": "email", "message": "incorrect value passed"},
        ]
        error = self.error(422, {"success": False, "data": faults})
        assert isinstance(error, InvalidError)
        self.assertEqual([fault.field for fault in error.faults], ["phone", "email"])
        self.assertIn("phone: not 10 digits; email: incorrect value passed", str(error))

    def test_faulty_cards_are_listed(self) -> None:
        faults = [{"message": "no such card", "code": "card_not_found", "idCard": ID}, {"message": "unknown"}]
        error = self.error(404, faults)
        assert isinstance(error, CardsError)
        self.assertIs(error.code, ErrorCode.CARD_NOT_FOUND)
        self.assertEqual([str(fault.id_card) for fault in error.faults], [ID, "None"])

    def test_unknown_codes_and_foreign_pages_are_errors_of_the_service_too(self) -> None:
        newer = self.error(409, {"code": "moon_phase", "message": "wait"})
        assert newer.code is not None
        self.assertEqual((newer.code.known, str(newer.code)), (False, "moon_phase"))
        self.assertEqual(str(self.error(502, "<h1>Bad gateway</h1>\n")), "status 502: <h1>Bad gateway</h1>")
        self.assertEqual(self.error(422, "nonsense").status, 422)

    def test_an_answer_of_another_form_shows_no_value(self) -> None:
        body = {"balance": "hush", "hold": 0, "available": 1, "updatedAt": "x"}
        with Stub(in_turn(then=Reply(200, body))) as stub, stub.client() as client:
            with self.assertRaises(DecodeError) as caught:
                client.balance()
        self.assertNotIn("hush", "".join(traceback.format_exception(caught.exception)))
        self.assertEqual(str(caught.exception), "the answer.balance is no int")


class Secrets(unittest.TestCase):
    def test_neither_repr_nor_errors_show_them(self) -> None:
        result = {"orderId": ID, "typeCard": "MLZ", "data": [{"customIdCard": "1", "activationCode": "hush"}]}
        with Stub(in_turn(then=Reply(200, result))) as stub, stub.client() as client:
            shown = repr(client) + repr(client.login()) + repr(client.orders.result(ID)) + json.dumps(str(client))
        for secret in ("ak_test", "hunter2", "access-1", "refresh-1", "hush"):
            self.assertNotIn(secret, shown)

    def test_what_is_missing_or_malformed_is_named(self) -> None:
        good: Any = {"api_key": "k", "login": "l", "password": "p"}
        for url in ("", "localhost", "ftp://localhost", "https://localhost/?x=1", "http://u:p@localhost"):
            with self.assertRaisesRegex(ConfigError, "base URL"):
                Client(url, **good)
        with self.assertRaisesRegex(ConfigError, "API key") as caught:
            Client("http://localhost", api_key="se\ncret", login="l", password="p")
        self.assertNotIn("cret", str(caught.exception))
        with self.assertRaisesRegex(ConfigError, "sealing key"):
            Client("http://localhost", seal_answers=True, **good)


class ClosedConnections(unittest.TestCase):
    def test_a_connection_that_the_service_closed_is_not_used_again(self) -> None:
        balance = Reply(200, {"balance": 1, "hold": 0, "available": 1, "updatedAt": "07.02.2026 09:05"})
        with Stub(in_turn(then=balance)) as stub, stub.client(retry=RetryPolicy.none()) as client:
            client.balance()
            (idle,) = client._connections._idle
            idle.sock.shutdown(socket.SHUT_RDWR)
            self.assertEqual(client.balance().available, 1)


class AsyncRetries(OverAsyncio, Retries):
    pass


class AsyncWaiting(OverAsyncio, Waiting):
    pass


class AsyncErrors(OverAsyncio, Errors):
    pass


class AsyncSecrets(OverAsyncio, Secrets):
    pass


if __name__ == "__main__":
    unittest.main()
