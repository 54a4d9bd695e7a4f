"""Proxies, TLS that cannot be, clocks that differ, and values that cannot be sent."""

from __future__ import annotations

import base64
import os
import socket
import ssl
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from email.utils import formatdate
from typing import Any
from unittest import mock

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kopeck import ApiError, ConfigError, InvalidError, RetryPolicy, SealingError, SealingKey, TlsError, TransportError
from kopeck.sealing import ResponseContext, bound_path, seal
from tests.stub import OverAsyncio, Reply, Seen, Stub, client_of, in_turn, pair

BALANCE = Reply(200, {"balance": 1, "hold": 0, "available": 1, "updatedAt": "07.02.2026 09:05"})
KEY = SealingKey(bytes([1] * 8), bytes([2] * 32))
GIVEN: Any = {"api_key": "ak_test", "login": "partner-1", "password": "hunter2"}
NO_PROXY = {name: "" for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy")}


class Listener:
    """Accepts connections and hands each to `serve`; counts them."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self.count = 0
        self._serve = serve
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._serve(connection)
            except OSError:
                pass

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        # Else the thread that accepts would hold the port.
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


def self_signed() -> ssl.SSLContext:
    """Shows a certificate for 127.0.0.1 without a signature of an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "kopeck test")])
    now = datetime.now(timezone.utc)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256())
    pem = certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(pem)
        file.flush()
        context.load_cert_chain(file.name)
    return context


class Tls(unittest.TestCase):
    def fault(self, url: str) -> TlsError:
        with client_of(url, proxy="", **GIVEN) as client, self.assertRaises(TlsError) as caught:
            client.balance()
        self.assertFalse(caught.exception.is_transient or caught.exception.may_have_happened)
        return caught.exception

    def test_a_certificate_that_is_not_accepted_is_named_at_once(self) -> None:
        context = self_signed()
        with Listener(lambda connection: context.wrap_socket(connection, server_side=True).close()) as listener:
            error = self.fault(f"https://127.0.0.1:{listener.port}")
            self.assertEqual(listener.count, 1)
        self.assertIn("certificate is not accepted: self", str(error))

    def test_https_against_http_is_named_at_once(self) -> None:
        def plain(connection: socket.socket) -> None:
            connection.recv(1)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass

        with Listener(plain) as listener:
            error = self.fault(f"https://127.0.0.1:{listener.port}")
            self.assertEqual(listener.count, 1)
        self.assertIn("does not speak TLS", str(error))
        self.assertIn("http://", str(error))


    def test_http_against_https_is_named_at_once(self) -> None:
        # What OpenSSL and rustls answer to plain HTTP: the alert `protocol_version`.
        def alert(connection: socket.socket) -> None:
            while b"\r\n\r\n" not in connection.recv(4096):
                pass
            connection.sendall(b"\x15\x03\x03\x00\x02\x02\x46")
            # Closed with unread bytes the connection would be reset, and the alert could be lost.
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass

        with Listener(alert) as listener:
            error = self.fault(f"http://127.0.0.1:{listener.port}")
            self.assertEqual(listener.count, 1)
        self.assertIn("this port speaks TLS: the base URL has to start with https://", str(error))


class Proxies(unittest.TestCase):
    def test_plain_calls_go_by_the_proxy_of_the_environment(self) -> None:
        with Stub(lambda seen: BALANCE if seen.method == "GET" else pair(1)) as stub:
            proxy = stub.url.replace("http://", "http://anna:p%40ss@")
            with mock.patch.dict(os.environ, {**NO_PROXY, "http_proxy": proxy}):
                with client_of("http://kopeck.invalid/base", **GIVEN) as client:
                    self.assertEqual(client.balance().available, 1)
            call = stub.seen[-1]
            self.assertRegex(call.target, r"^http://kopeck\.invalid(:80)?/base/v1/balance$")
            credentials = base64.b64encode(b"anna:p@ss").decode()
            self.assertEqual(call.headers["proxy-authorization"], f"Basic {credentials}")
            self.assertIn(call.headers["host"], ("kopeck.invalid", "kopeck.invalid:80"))

    def test_calls_by_tls_pass_through_the_proxy(self) -> None:
        heads: list[bytes] = []

        def refuse(connection: socket.socket) -> None:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            heads.append(head)
            connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")

        with Listener(refuse) as listener:
            with mock.patch.dict(os.environ, {**NO_PROXY, "https_proxy": f"127.0.0.1:{listener.port}"}):
                with client_of("https://kopeck.invalid", retry=RetryPolicy.none(), **GIVEN) as client:
                    with self.assertRaisesRegex(TransportError, "403") as caught:
                        client.balance()
        self.assertFalse(caught.exception.sent)
        self.assertTrue(heads[0].startswith(b"CONNECT kopeck.invalid:443 "), heads)

    def test_a_dead_proxy_is_named_and_so_is_the_address(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        for proxy, way in (
            ("", f"at 127.0.0.1:{port}:"),
            (f"http://anna:hunter2@127.0.0.1:{port}", f"at kopeck.invalid:80 by the proxy 127.0.0.1:{port}:"),
        ):
            url = "http://kopeck.invalid" if proxy else f"http://127.0.0.1:{port}"
            with client_of(url, proxy=proxy, retry=RetryPolicy.none(), **GIVEN) as client:
                with self.assertRaises(TransportError) as caught:
                    client.balance()
            self.assertFalse(caught.exception.sent)
            self.assertIn(way, str(caught.exception))
            self.assertNotIn("hunter2", str(caught.exception))

    def test_some_hosts_need_no_proxy(self) -> None:
        nowhere = {"http_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1"}
        with Stub(lambda _: BALANCE) as stub, mock.patch.dict(os.environ, {**NO_PROXY, **nowhere}):
            with client_of(stub.url, **GIVEN) as client:
                self.assertEqual(client.balance().available, 1)
            with mock.patch.dict(os.environ, {"no_proxy": ""}), client_of(stub.url, proxy="", **GIVEN) as client:
                self.assertEqual(client.balance().available, 1)

    def test_a_proxy_of_another_kind_is_refused(self) -> None:
        for proxy in ("socks5://localhost:1", "http://", "http://localhost:x"):
            with self.assertRaisesRegex(ConfigError, "proxy"):
                client_of("http://localhost", proxy=proxy, **GIVEN)


def dated(offset: float) -> dict[str, str]:
    return {"date": formatdate(time.time() + offset, usegmt=True), "content-type": "application/json"}


class Clocks(unittest.TestCase):
    def test_a_clock_that_is_off_is_named_beside_the_refusal(self) -> None:
        refused = {"success": False, "data": [{"field": "body", "message": "incorrect value passed"}]}
        for offset, said in ((1_000, "your clock is 1000 s behind the service's"), (-400, "400 s ahead of")):
            reply = Reply(422, refused, dated(offset))
            with Stub(in_turn(then=reply), tokens=lambda _, reply=reply: reply) as stub:  # type: ignore[misc]
                with stub.client(sealing_key=KEY) as client, self.assertRaises(InvalidError) as caught:
                    client.balance()
            self.assertRegex(
                str(caught.exception), said.replace("1000", "(999|1000|1001)").replace("400", "(399|400|401)")
            )

    def test_a_refusal_that_has_nothing_to_do_with_clocks_names_none(self) -> None:
        refused = {"success": False, "data": [{"field": "phone", "message": "incorrect value passed"}]}
        with Stub(in_turn(then=Reply(422, refused, dated(1_000)))) as stub, stub.client() as client:
            with self.assertRaises(InvalidError) as caught:
                client.balance()
            self.assertNotIn("clock", str(caught.exception))
        for headers in (dated(200), {"date": "yesterday"}):
            reply = Reply(422, refused, headers)
            with Stub(in_turn(then=reply), tokens=lambda _, reply=reply: reply) as stub:  # type: ignore[misc]
                with stub.client(sealing_key=KEY) as client, self.assertRaises(InvalidError) as caught:
                    client.balance()
            self.assertNotIn("clock", str(caught.exception))

    def test_a_clock_that_is_off_is_named_where_an_answer_cannot_be_opened(self) -> None:
        def late(seen: Seen) -> Reply:
            context = ResponseContext(seen.method, bound_path(seen.target), seen.headers["x-nonce"], 200)
            text = seal(KEY, context, int(time.time()) + 1_000, "{}")
            return Reply(200, {"sealed": text}, {**dated(1_000), "content-type": "application/sealed+json"})

        with Stub(late, tokens=late) as stub, stub.client(sealing_key=KEY) as client:
            with self.assertRaisesRegex(SealingError, r"your clock is (999|1000|1001) s behind the service's"):
                client.balance()


class Values(unittest.TestCase):
    def test_what_cannot_be_sent_is_named_by_an_error_of_ours(self) -> None:
        with Stub(lambda _: BALANCE) as stub, stub.client() as client:
            calls: tuple[Callable[[], object], ...] = (
                lambda: client.employees.get("not-a-uuid"),
                lambda: client.employees.get(7),  # type: ignore[arg-type]
                lambda: client.replenishments.status("not-a-uuid"),
                lambda: client.employees.add("\ud800"),
                lambda: client.employees.list(q="\ud800"),
                lambda: client.sandbox.bank(error_rate=float("nan")),
                lambda: client.employees.add(object()),  # type: ignore[arg-type]
                lambda: client.cards.can_pay(UUID_TEXT, 5, at=datetime.now(timezone.utc)),
            )
            for number, call in enumerate(calls):
                with self.subTest(number), self.assertRaises(ConfigError):
                    call()
            self.assertEqual(stub.calls(), [])

    def test_settings_that_cannot_work_are_named_by_an_error_of_ours(self) -> None:
        for url in ("http://[", "http://a:99999", "http://a..b", "http://localhost/ä", "http://localhost/a b"):
            with self.subTest(url), self.assertRaisesRegex(ConfigError, "base URL"):
                client_of(url, **GIVEN)
        with self.assertRaisesRegex(ConfigError, "timeout"):
            client_of("http://localhost", timeout=0, **GIVEN)

    def test_a_base_url_may_be_pasted_with_what_surrounds_it(self) -> None:
        with Stub(lambda seen: BALANCE if seen.method == "GET" else pair(1)) as stub:
            for before, after in (("", "/"), ("", "/v1"), ("", "/v1/"), (" ", "\r\n"), ("\ufeff", "/base/v1\n")):
                with client_of(before + stub.url + after, proxy="", **GIVEN) as client:
                    client.balance()
            targets = {seen.path for seen in stub.seen if seen.method == "GET"}
        self.assertEqual(targets, {"/v1/balance", "/base/v1/balance"})
        for url in ("127.0.0.1:8080", "localhost", "api.example.com/v1"):
            with self.subTest(url), self.assertRaisesRegex(ConfigError, "has to start with http:// or https://"):
                client_of(url, **GIVEN)

    def test_credentials_that_were_pasted_with_more_are_refused_before_they_are_sent(self) -> None:
        for name in ("login", "password"):
            for text, what in (
                ("hunter2\r", "control"), ("hunter2\n", "control"), ("\thunter2", "control"), ("hunter2\x7f", "control"),
                ("\ufeffhunter2", "byte-order"),
            ):
                with self.subTest(name, text=text), self.assertRaisesRegex(ConfigError, f"the {name} .*{what}") as caught:
                    client_of("http://localhost", **{**GIVEN, name: text})
                self.assertNotIn("hunter2", str(caught.exception))

    def test_what_is_no_uuid_or_month_is_named(self) -> None:
        with Stub(lambda _: BALANCE) as stub, stub.client() as client:
            calls: tuple[tuple[Callable[[], object], str], ...] = (
                (lambda: client.employees.get("T-0001"), r"^id_employee: .*employees\.list\(custom_id="),
                (lambda: client.cards.info("9201709941"), r"^id_card: this is no uuid$"),
                (lambda: client.orders.status("x"), r"^order_id: "),
                (lambda: client.replenishments.cancel("x"), r"^replenishment_id: "),
                (lambda: client.statements.month(date(2026, 2, 1)), "YYYY-MM"),  # type: ignore[arg-type]
            )
            for number, (call, said) in enumerate(calls):
                with self.subTest(number), self.assertRaisesRegex(ConfigError, said):
                    call()
            self.assertEqual(stub.calls(), [])

    def test_an_answer_too_deep_to_read_is_an_error_of_ours(self) -> None:
        with Stub(in_turn(then=Reply(400, "[" * 100_000))) as stub, stub.client() as client:
            with self.assertRaises(ApiError):
                client.balance()


UUID_TEXT = "0f8fad5b-d9cb-469f-a165-70867728950e"


class AsyncTls(OverAsyncio, Tls):
    pass


class AsyncProxies(OverAsyncio, Proxies):
    pass


class AsyncClocks(OverAsyncio, Clocks):
    pass


class AsyncValues(OverAsyncio, Values):
    pass


if __name__ == "__main__":
    unittest.main()
