"""The tokens of the client: login at first use, renewal in time, one renewal for all who need it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from kopeck import operations
from kopeck.call import Call, to_json
from kopeck.errors import KopeckError, TransportError
from kopeck.retry import RetryPolicy
from kopeck.transport import Transport
from kopeck.wire import decode

_RENEWAL_MARGIN = 30
"""An access token is renewed this many seconds before it expires, but not before nine tenths of its life."""


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The tokens that a login or a renewal yields. `repr` does not show them."""

    access_token: str = field(repr=False)
    """Goes with every call."""
    access_expire_at: int
    """When the access token expires, in Unix seconds."""
    refresh_token: str = field(repr=False)
    """Buys the next pair, once."""
    refresh_expire_at: int
    """When the refresh token expires, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the partner was issued. `repr` does not show the secrets."""

    api_key: str = field(repr=False)
    login: str
    password: str = field(repr=False)


class Tokens:
    """A pair with the time to renew it."""

    __slots__ = ("pair", "renew_at")

    def __init__(self, pair: TokenPair, now: int) -> None:
        self.pair = pair
        life = pair.access_expire_at - now
        # A token that seems to be expired when it comes tells of a clock that is wrong here. It serves until the
        # service refuses it, else every call would renew.
        self.renew_at = float("inf") if life <= 0 else now + life - min(_RENEWAL_MARGIN, -(-life // 10))

    @property
    def credential(self) -> tuple[str, str]:
        """The header that shows the access token."""
        return "authorization", f"Bearer {self.pair.access_token}"


class Session:
    """The tokens in use."""

    def __init__(self, credentials: Credentials, transport: Transport, retry: RetryPolicy) -> None:
        self._credentials = credentials
        self._transport = transport
        self._retry = retry
        self._current: Tokens | None = None
        # Held through a renewal, so that whoever needs a token meanwhile waits for the same one.
        self._lock = threading.Lock()

    def tokens(self) -> Tokens:
        """Tokens that are good as far as can be known here."""
        with self._lock:
            current = self._current
            if current is not None and self._transport.now() < current.renew_at:
                return current
            return self._renew()

    def tokens_after(self, refused: Tokens) -> Tokens:
        """Other tokens than those that the service has just refused."""
        with self._lock:
            # Another thread was refused too, and has renewed them while this one waited.
            if self._current is not None and self._current is not refused:
                return self._current
            return self._renew()

    def login(self) -> TokenPair:
        """Logs in, whatever tokens there are."""
        with self._lock:
            return self._keep(self._fetch_by_login()).pair

    def refresh(self) -> TokenPair:
        """Renews the tokens, whether it is time or not."""
        with self._lock:
            return self._renew().pair

    def _keep(self, pair: TokenPair) -> Tokens:
        self._current = Tokens(pair, self._transport.now())
        return self._current

    def _renew(self) -> Tokens:
        # Taken out, so that a refresh token whose fate is unknown is never shown again: the service takes that for
        # theft.
        old, self._current = self._current, None
        return self._keep(self._fetch_by_login() if old is None else self._fetch_by_refresh(old.pair.refresh_token))

    def _fetch_by_refresh(self, token: str) -> TokenPair:
        """By refresh token, or by login if the token is not accepted any more."""
        call = Call(operations.REFRESH, body=to_json({"token": token}))

        def without_effect(error: KopeckError) -> bool:
            return error.is_transient and not error.may_have_happened

        def fetch() -> TokenPair:
            return self._retry.run(lambda: self._fetch(call), without_effect)

        try:
            try:
                return fetch()
            except KopeckError as error:
                if not error.may_have_happened:
                    raise
                # The token may be spent and the answer lost. The service accepts such a token once more, and only
                # once.
                return fetch()
        except KopeckError as error:
            if isinstance(error, TransportError) and not error.sent:
                raise
        return self._fetch_by_login()

    def _fetch_by_login(self) -> TokenPair:
        body = to_json({"login": self._credentials.login, "password": self._credentials.password})
        call = Call(operations.LOGIN, body=body)
        return self._retry.run(lambda: self._fetch(call), lambda error: error.is_transient)

    def _fetch(self, call: Call) -> TokenPair:
        return decode(TokenPair, self._transport.send(call, ("x-api-key", self._credentials.api_key)))
