"""Connections to the service, kept open between calls."""

from __future__ import annotations

import http.client
import selectors
import socket
import threading
import time

from kopeck.codec import MAX_BODY, Request, Response
from kopeck.endpoint import Endpoint, broken, never_connected
from kopeck.errors import CallTimeoutError, DecodeError

_CHUNK = 1 << 16


class Connections:
    """A pool of connections to one address. Any number of threads may call at once, each over its own."""

    def __init__(self, endpoint: Endpoint, *, timeout: float, connect_timeout: float) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._connect_timeout = min(connect_timeout, timeout)
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def send(self, request: Request) -> Response:
        """Sends one call and reads its whole response. Redirects are not followed."""
        deadline = time.monotonic() + self._timeout
        connection = self._take()
        try:
            _limit(connection, deadline)
            response = self._exchange(connection, deadline, request)
        except TimeoutError:
            connection.close()
            raise CallTimeoutError("the service did not answer in time") from None
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise broken(self._endpoint, error) from error
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)
        return response

    def close(self) -> None:
        """Closes the connections that no call uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _exchange(self, connection: http.client.HTTPConnection, deadline: float, request: Request) -> Response:
        endpoint, headers = self._endpoint, dict(request.headers)
        target = endpoint.prefix + request.target
        if endpoint.proxy is not None and endpoint.tls is None:
            # A proxy gets the whole URL, unless it only tunnels TLS.
            target = endpoint.url + request.target
            if endpoint.proxy.authorization is not None:
                headers["proxy-authorization"] = endpoint.proxy.authorization
        connection.request(request.method, target, body=request.body, headers=headers)
        response = connection.getresponse()
        chunks = bytearray()
        while True:
            _limit(connection, deadline)
            chunk = response.read(_CHUNK)
            if not chunk:
                break
            chunks += chunk
            if len(chunks) > MAX_BODY:
                raise DecodeError(f"the answer is larger than {MAX_BODY} bytes")
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        return Response(response.status, {name.lower(): text for name, text in response.headers.items()}, bytes(chunks))

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
        endpoint, proxy, timeout = self._endpoint, self._endpoint.proxy, self._connect_timeout
        host, port = (proxy.host, proxy.port) if proxy else (endpoint.host, endpoint.port)
        connection: http.client.HTTPConnection
        if endpoint.tls is None:
            connection = http.client.HTTPConnection(host, port, timeout=timeout)
        else:
            connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=endpoint.tls)
            if proxy is not None:
                headers = {"proxy-authorization": proxy.authorization} if proxy.authorization else {}
                connection.set_tunnel(endpoint.host, endpoint.port, headers)
        try:
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise never_connected(endpoint, error) from error
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
