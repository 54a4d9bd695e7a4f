"""Connections to the service, kept open between calls."""

from __future__ import annotations

import http.client
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from kopeck.errors import CallTimeoutError, ConfigError, DecodeError, TransportError

_MAX_ANSWER = 64 << 20
"""The largest answer that is read, in bytes; a result of 100,000 cards, sealed, stays well below it."""
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it came."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Connections:
    """A pool of connections to one address. Any number of threads may call at once, each over its own."""

    def __init__(
        self, base_url: str, *, timeout: float, connect_timeout: float, ssl_context: ssl.SSLContext | None
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("base URL: it has to start with http:// or https://")
        if parts.query or parts.fragment or parts.username is not None:
            raise ConfigError("base URL: it must have neither query nor fragment nor credentials")
        try:
            self._port = parts.port
        except ValueError as error:
            raise ConfigError(f"base URL: {error}") from None
        self._host = parts.hostname
        self._prefix = parts.path.rstrip("/")
        self._tls = (ssl_context or ssl.create_default_context()) if parts.scheme == "https" else None
        self._timeout = timeout
        self._connect_timeout = min(connect_timeout, timeout)
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Sends one call and reads its whole answer. Redirects are not followed."""
        deadline = time.monotonic() + self._timeout
        connection = self._take()
        try:
            _limit(connection, deadline)
            answer = self._exchange(connection, deadline, method, target, headers, body)
        except TimeoutError:
            connection.close()
            raise CallTimeoutError("the service did not answer in time") from None
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise TransportError(f"the connection broke: {type(error).__name__}", sent=True) from error
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)
        return answer

    def close(self) -> None:
        """Closes the connections that no call uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        deadline: float,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> Answer:
        connection.request(method, self._prefix + target, body=body, headers=headers)
        response = connection.getresponse()
        chunks = bytearray()
        while True:
            _limit(connection, deadline)
            chunk = response.read(_CHUNK)
            if not chunk:
                break
            chunks += chunk
            if len(chunks) > _MAX_ANSWER:
                raise DecodeError(f"the answer is larger than {_MAX_ANSWER} bytes")
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        return Answer(response.status, response.headers, bytes(chunks))

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if not _ended(connection):
                return connection
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection
        if self._tls is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self._connect_timeout)
        else:
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._connect_timeout, context=self._tls
            )
        try:
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connection.close()
            raise TransportError("the service could not be reached", sent=False) from error
        return connection

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        # Without a socket the service has asked to close the connection.
        if connection.sock is not None:
            with self._lock:
                self._idle.append(connection)


def _limit(connection: http.client.HTTPConnection, deadline: float) -> None:
    """Lets the next read or write take no longer than until the deadline."""
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise TimeoutError
    if connection.sock is not None:
        connection.sock.settimeout(remaining)


def _ended(connection: http.client.HTTPConnection) -> bool:
    """Whether the service has closed an idle connection: what can be read from one is its end."""
    if connection.sock is None:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(connection.sock, selectors.EVENT_READ)
        return bool(selector.select(0))
