"""Tokens: login at first use, one renewal for all, and a refresh token is never shown once too often."""

from __future__ import annotations

import json
import threading
import unittest

from kopeck import ApiError, RetryPolicy, TransportError
from tests.stub import CUT, Handler, OverAsyncio, Reply, Seen, Stub, pair

BALANCE = Reply(200, {"balance": 1, "hold": 0, "available": 1, "updatedAt": "07.02.2026 09:05"})
REFUSED = Reply(401, {"code": "unauthorized", "message": "no"})
LOGIN, REFRESH = "/v1/get_access_token", "/v1/get_refresh_token"


def numbered(expires: int = 4_000_000_000) -> Handler:
    """Pairs with a number each."""
    count = iter(range(1, 100))
    lock = threading.Lock()

    def tokens(_: Seen) -> Reply:
        with lock:
            return pair(next(count), expires)

    return tokens


def only(token: str) -> Handler:
    """Admits only the bearer of a token."""
    return lambda seen: BALANCE if seen.headers["authorization"] == f"Bearer {token}" else REFUSED


class Tokens(unittest.TestCase):
    def test_the_first_call_logs_in_and_the_others_share_it(self) -> None:
        with Stub(lambda _: BALANCE, tokens=numbered()) as stub, stub.client() as client:
            threads = [threading.Thread(target=client.balance) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((stub.count(LOGIN), stub.count(REFRESH), len(stub.calls())), (1, 0, 8))
            login = next(seen for seen in stub.seen if seen.path == LOGIN)
        self.assertEqual(login.headers["x-api-key"], "ak_test")
        self.assertEqual(json.loads(login.body), {"login": "partner-1", "password": "hunter2"})

    def test_after_a_change_of_the_password_the_client_logs_in_with_the_new_one(self) -> None:
        def handler(seen: Seen) -> Reply:
            return Reply(200, {"success": True, "endedSessions": 0}) if seen.path == "/v1/password" else BALANCE

        with Stub(handler, tokens=numbered()) as stub, stub.client() as client:
            client.change_password("hunter2", "a new one")
            client.login()
            passwords = [json.loads(seen.body)["password"] for seen in stub.seen if seen.path == LOGIN]
        self.assertEqual(passwords, ["hunter2", "a new one"])

    def test_a_token_is_renewed_shortly_before_its_end(self) -> None:
        now = [1_000.0]
        with Stub(lambda _: BALANCE, tokens=numbered(1_900)) as stub:
            with stub.client(clock=lambda: now[0]) as client:
                client.balance()
                now[0] = 1_869
                client.balance()
                self.assertEqual(stub.count(REFRESH), 0)
                now[0] = 1_870
                client.balance()
                self.assertEqual(stub.count(REFRESH), 1)
                # The new one seems expired when it comes, as the stub knows no other time: it serves all the same.
                now[0] = 1_950
                client.refresh()
                client.balance()
                client.balance()
                self.assertEqual(stub.count(REFRESH), 2)

    def test_threads_that_were_refused_share_one_renewal(self) -> None:
        gate = threading.Barrier(4)

        def handler(seen: Seen) -> Reply:
            if seen.headers["authorization"] == "Bearer access-1":
                gate.wait(10)
                return REFUSED
            return BALANCE

        with Stub(handler, tokens=numbered()) as stub, stub.client() as client:
            client.login()
            threads = [threading.Thread(target=client.balance) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((stub.count(LOGIN), stub.count(REFRESH)), (1, 1))

    def test_a_refresh_token_that_is_not_accepted_leads_to_a_login(self) -> None:
        def tokens(seen: Seen) -> Reply:
            return REFUSED if seen.path == REFRESH else pair(3 if len(stub.seen) > 2 else 1)

        with Stub(only("access-3"), tokens=tokens) as stub, stub.client() as client:
            self.assertEqual(client.balance().available, 1)
            self.assertEqual((stub.count(LOGIN), stub.count(REFRESH)), (2, 1))

    def test_a_refresh_whose_answer_is_lost_is_sent_once_more_and_never_again(self) -> None:
        def tokens(seen: Seen) -> Reply:
            return CUT if seen.path == REFRESH else pair(1)

        with Stub(lambda _: BALANCE, tokens=tokens) as stub, stub.client() as client:
            client.login()
            client.refresh()
            self.assertEqual((stub.count(LOGIN), stub.count(REFRESH)), (2, 2))

    def test_a_call_that_is_refused_twice_fails(self) -> None:
        with Stub(lambda _: REFUSED, tokens=numbered()) as stub, stub.client() as client:
            with self.assertRaises(ApiError) as caught:
                client.balance()
            self.assertEqual((caught.exception.status, len(stub.calls())), (401, 2))

    def test_wrong_credentials_are_told_at_once(self) -> None:
        wrong = Reply(400, {"code": "bad_credentials", "message": "wrong"})
        with Stub(lambda _: BALANCE, tokens=lambda _: wrong) as stub, stub.client() as client:
            with self.assertRaises(ApiError) as caught:
                client.balance()
            self.assertEqual((caught.exception.status, len(stub.seen)), (400, 1))

    def test_a_login_that_fails_is_not_multiplied_by_the_retries_of_the_call(self) -> None:
        with Stub(lambda _: BALANCE, tokens=lambda _: CUT) as stub:
            with stub.client(retry=RetryPolicy(max_retries=2, min_delay=0, max_delay=0)) as client:
                with self.assertRaises(TransportError):
                    client.balance()
            self.assertEqual(stub.count(LOGIN), 3)


class AsyncTokens(OverAsyncio, Tokens):
    pass


if __name__ == "__main__":
    unittest.main()
