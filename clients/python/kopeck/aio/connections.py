"""Connections to the service, by httpx, kept open between calls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kopeck.codec import MAX_BODY, Request, Response
from kopeck.endpoint import Endpoint, broken, never_connected
from kopeck.errors import CallTimeoutError, ConfigError, DecodeError

if TYPE_CHECKING:
    import httpx


class Connections:
    """A pool of connections to one address, for one event loop."""

    def __init__(self, endpoint: Endpoint, *, timeout: float, connect_timeout: float) -> None:
        try:
            import httpx
        except ImportError:
            raise ConfigError("AsyncClient needs httpx: pip install 'kopeck[async]'") from None
        self._endpoint = endpoint
        self._timeout = timeout
        self._connect_timeout = min(connect_timeout, timeout)
        self._httpx = httpx
        self._client: httpx.AsyncClient | None = None

    async def send(self, request: Request) -> Response:
        """Sends one call and reads its whole response. Redirects are not followed."""
        httpx = self._httpx
        try:
            return await asyncio.wait_for(self._exchange(request), self._timeout)
        except asyncio.TimeoutError:
            raise CallTimeoutError("the service did not answer in time") from None
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise never_connected(self._endpoint, error) from error
        except httpx.TransportError as error:
            raise broken(self._endpoint, error) from error

    async def close(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _exchange(self, request: Request) -> Response:
        url = self._endpoint.url + request.target
        headers = {"accept-encoding": "identity", **request.headers}
        stream = self._open().stream(request.method, url, headers=headers, content=request.body)
        async with stream as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BODY:
                    raise DecodeError(f"the answer is larger than {MAX_BODY} bytes")
        return Response(
            response.status_code, {name.lower(): text for name, text in response.headers.items()}, bytes(body)
        )

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            httpx, endpoint, proxy = self._httpx, self._endpoint, None
            if endpoint.proxy is not None:
                authorization = endpoint.proxy.authorization
                headers = {"proxy-authorization": authorization} if authorization else None
                proxy = httpx.Proxy(f"http://{endpoint.proxy.authority}", headers=headers)
            # What the environment says of proxies is in the endpoint already.
            self._client = httpx.AsyncClient(
                verify=endpoint.tls or False,
                proxy=proxy,
                trust_env=False,
                # One try as a whole is limited by the caller.
                timeout=httpx.Timeout(None, connect=self._connect_timeout),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
            )
        return self._client
