"""A service that answers as a test says, and notes what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from kopeck import Client, RetryPolicy

TOKEN_PATHS = ("/v1/get_access_token", "/v1/get_refresh_token")


@dataclass(frozen=True)
class Seen:
    """A call as it arrived."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: str

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True)
class Reply:
    """An answer; without a status the connection is cut."""

    status: int | None = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


CUT = Reply(None)
Handler = Callable[[Seen], Reply]


def pair(number: int, expires: int = 4_000_000_000) -> Reply:
    """Token pair `number`, which expires at `expires`."""
    body = {
        "tokenType": "bearer",
        "accessToken": f"access-{number}",
        "accessExpireAt": expires,
        "refreshToken": f"refresh-{number}",
        "refreshExpireAt": expires + 1_000_000,
    }
    return Reply(200, body)


class Stub:
    """A running service. Token calls get a pair that is good for ever, unless `tokens` says otherwise."""

    def __init__(self, handler: Handler, *, tokens: Handler = lambda _: pair(1)) -> None:
        self.seen: list[Seen] = []
        stub = self

        class Handling(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline()
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(self.command, self.path, headers, body)
                stub.seen.append(seen)
                reply = tokens(seen) if seen.path in TOKEN_PATHS else handler(seen)
                if reply.status is None:
                    self.close_connection = True
                    return
                text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handling)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def client(self, **options: Any) -> Client:
        """A client whose retries do not wait."""
        quick = RetryPolicy(min_delay=0, max_delay=0)
        given = {"api_key": "ak_test", "login": "partner-1", "password": "hunter2", "retry": quick, **options}
        return Client(self.url, **given)

    def calls(self) -> list[Seen]:
        """What arrived, but for logins and renewals."""
        return [seen for seen in self.seen if seen.path not in TOKEN_PATHS]

    def count(self, path: str) -> int:
        return sum(seen.path == path for seen in self.seen)

    def __enter__(self) -> Stub:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def in_turn(*replies: Reply, then: Reply) -> Handler:
    """Answers the first calls as given, all later ones with `then`."""
    rest = list(replies)
    return lambda _: rest.pop(0) if rest else then
