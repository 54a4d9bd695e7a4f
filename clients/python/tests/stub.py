"""A service that answers as a test says, and notes what it was asked."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import unittest
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast

from kopeck import AsyncClient, Client, RetryPolicy

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


_over_asyncio = False


class OverAsyncio(unittest.TestCase):
    """Lets the tests of another class run with the client for asyncio."""

    @classmethod
    def setUpClass(cls) -> None:
        global _over_asyncio
        _over_asyncio = True

    @classmethod
    def tearDownClass(cls) -> None:
        global _over_asyncio
        _over_asyncio = False


def client_of(url: str, **options: Any) -> Client:
    """A client: `Client`, or `AsyncClient` behind the same methods."""
    return cast(Client, Blocking(AsyncClient(url, **options))) if _over_asyncio else Client(url, **options)


def patched(name: str) -> str:
    """Where to patch a name of `kopeck.aio` and `kopeck.sync`."""
    return f"kopeck.{'aio' if _over_asyncio else 'sync'}.{name}"


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking:
    """The client for asyncio, or a part of it, with methods that block."""

    def __init__(self, inner: Any, loop: Loop | None = None) -> None:
        self._inner = inner
        self._loop = loop or Loop()

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return Blocking(value, self._loop)

        def call(*given: Any, **named: Any) -> Any:
            result = value(*given, **named)
            if inspect.iscoroutine(result):
                return self._loop.run(result)
            return self._iterate(result) if inspect.isasyncgen(result) else result

        return call

    def _iterate(self, records: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> list[Any]:
            return [record async for record in _first(records)]

        while found := self._loop.run(following()):
            yield from found

    def __enter__(self) -> Blocking:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._inner.aclose())
        self._loop.stop()

    def __repr__(self) -> str:
        return repr(self._inner)


async def _first(records: AsyncIterator[Any]) -> AsyncIterator[Any]:
    try:
        yield await anext(records)
    except StopAsyncIteration:
        return


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
                text = reply.body if isinstance(reply.body, (str, bytes)) else json.dumps(reply.body)
                raw = text if isinstance(text, bytes) else text.encode()
                # Without a `Date` of its own, which a test may give.
                self.send_response_only(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

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
        return client_of(self.url, **{"proxy": "", **given})

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
