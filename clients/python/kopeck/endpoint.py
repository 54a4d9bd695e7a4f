"""Where the service is, by which proxy it is reached, and why no connection to it comes about."""

from __future__ import annotations

import base64
import re
import ssl
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from kopeck.errors import ConfigError, TlsError, TransportError

_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "PACKET_LENGTH_TOO_LONG")
"""What OpenSSL says where the other side does not speak TLS."""

_TLS_ALERT = re.compile(r"^\x15\x03|^illegal request line$")
"""How a port that speaks TLS answers plain HTTP: the alert as http.client shows it, and what h11 says of it."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)
    """The header `proxy-authorization`, if the proxy's URL has a user."""

    @property
    def authority(self) -> str:
        """Host and port as in a URL."""
        return _authority(self.host, self.port)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a service."""

    host: str
    port: int
    prefix: str
    """What stands before each path."""
    tls: ssl.SSLContext | None
    proxy: Proxy | None

    @classmethod
    def parse(cls, base_url: str, proxy: str | None, ssl_context: ssl.SSLContext | None) -> Endpoint:
        """Reads a base URL. Without a `proxy` that of the environment is taken. Raises `ConfigError`.

        Blanks and line ends around it are cut off, and so is the `/v1` with which every path begins.
        """
        parts, port = _split("base URL", base_url.strip("\ufeff \t\r\n"), ("http", "https"))
        if parts.query or parts.fragment or parts.username is not None:
            raise ConfigError("base URL: it must have neither query nor fragment nor credentials")
        if any(not "!" <= letter <= "~" for letter in parts.path):
            raise ConfigError("base URL: its path must be of visible ASCII characters")
        tls = (ssl_context or ssl.create_default_context()) if parts.scheme == "https" else None
        host = parts.hostname or ""
        if proxy is None:
            proxy = _proxy_of_environment(parts.scheme, host, port)
        prefix = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
        return cls(host, port, prefix, tls, _proxy(proxy) if proxy else None)

    @property
    def authority(self) -> str:
        """Host and port as in a URL."""
        return _authority(self.host, self.port)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"{'https' if self.tls else 'http'}://{self.authority}{self.prefix}"

    @property
    def way(self) -> str:
        """Where connections go to, for people."""
        return f"{self.authority} by the proxy {self.proxy.authority}" if self.proxy else self.authority


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def broken(endpoint: Endpoint, error: BaseException) -> TransportError:
    """The error of a connection that broke after the call was sent."""
    if endpoint.tls is None and _TLS_ALERT.search(str(error)):
        return TlsError("this port speaks TLS: the base URL has to start with https://")
    return TransportError(f"the connection broke: {type(error).__name__}", sent=True)


def never_connected(endpoint: Endpoint, error: BaseException) -> TransportError:
    """The error of a connection that did not come about."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return TlsError(f"the service's certificate is not accepted: {cause.verify_message}")
        # A connection that ends during the handshake tells nothing, and may do so once only.
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
            if cause.reason in _NO_TLS:
                return TlsError(
                    "the service does not speak TLS at this address; its URL may have to start with http://"
                )
            return TlsError(f"the service and this client find no common TLS: {cause.reason}")
        cause = cause.__cause__ or cause.__context__
    reason = str(error) or type(error).__name__
    return TransportError(f"the service could not be reached at {endpoint.way}: {reason}", sent=False)


def _split(what: str, text: str, schemes: tuple[str, ...]) -> tuple[SplitResult, int]:
    try:
        parts = urlsplit(text)
        port = parts.port
        host = (parts.hostname or "").encode("idna")
    except ValueError as error:
        # Not what `error` says: it may hold the text, which may hold a password.
        raise ConfigError(f"{what}: it is malformed ({type(error).__name__})") from None
    if parts.scheme not in schemes or not host:
        raise ConfigError(f"{what}: it has to start with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    return parts, port or (443 if parts.scheme == "https" else 80)


def _proxy(url: str) -> Proxy:
    # `HTTPS_PROXY=proxy:3128` is common too.
    parts, port = _split("proxy", url if "://" in url else f"http://{url}", ("http",))
    authorization = None
    if parts.username is not None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(credentials.encode()).decode()
    return Proxy(parts.hostname or "", port, authorization)


def _proxy_of_environment(scheme: str, host: str, port: int) -> str | None:
    """By `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either letter case, or the system's settings."""
    proxies = urllib.request.getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    return proxy if proxy and not urllib.request.proxy_bypass(f"{host}:{port}") else None
