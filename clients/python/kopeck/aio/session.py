"""The tokens of the client: login at first use, renewal in time, one renewal for all who need it."""

from __future__ import annotations

from dataclasses import replace

from kopeck import operations
from kopeck.aio.retrying import retrying
from kopeck.aio.runtime import Lock
from kopeck.aio.transport import Transport
from kopeck.call import Call, to_json
from kopeck.errors import KopeckError, TransportError
from kopeck.retry import RetryPolicy
from kopeck.tokens import Credentials, TokenPair, Tokens
from kopeck.wire import decode


class Session:
    """The tokens in use."""

    def __init__(self, credentials: Credentials, transport: Transport, retry: RetryPolicy) -> None:
        self._credentials = credentials
        self._transport = transport
        self._retry = retry
        self._current: Tokens | None = None
        # Held through a renewal, so that requests that need a token meanwhile wait for the same one.
        self._lock = Lock()

    def password_is(self, password: str) -> None:
        """Takes another password for further logins."""
        self._credentials = replace(self._credentials, password=password)

    async def tokens(self) -> Tokens:
        """Tokens that are good as far as can be known here."""
        async with self._lock:
            current = self._current
            if current is not None and self._transport.now() < current.renew_at:
                return current
            return await self._renew()

    async def tokens_after(self, refused: Tokens) -> Tokens:
        """Other tokens than those that the service has just refused."""
        async with self._lock:
            # Another call was refused too, and has renewed them while this one waited.
            if self._current is not None and self._current is not refused:
                return self._current
            return await self._renew()

    async def login(self) -> TokenPair:
        """Logs in, whatever tokens there are."""
        async with self._lock:
            return self._keep(await self._fetch_by_login()).pair

    async def refresh(self) -> TokenPair:
        """Renews the tokens, whether it is time or not."""
        async with self._lock:
            return (await self._renew()).pair

    def _keep(self, pair: TokenPair) -> Tokens:
        self._current = Tokens(pair, self._transport.now())
        return self._current

    async def _renew(self) -> Tokens:
        # Taken out, so that a refresh token whose fate is unknown (the renewal failed, or was cancelled) is never shown
        # again: the service takes that for theft.
        old, self._current = self._current, None
        if old is None:
            return self._keep(await self._fetch_by_login())
        return self._keep(await self._fetch_by_refresh(old.pair.refresh_token))

    async def _fetch_by_refresh(self, token: str) -> TokenPair:
        """By refresh token, or by login if the token is not accepted any more."""
        call = Call(operations.TOKEN_REFRESH, body=to_json({"token": token}))

        def without_effect(error: KopeckError) -> bool:
            return error.is_transient and not error.may_have_happened

        async def fetch() -> TokenPair:
            return await retrying(self._retry, lambda: self._fetch(call), without_effect)

        try:
            try:
                return await fetch()
            except KopeckError as error:
                if not error.may_have_happened:
                    raise
                # The token may be spent and the answer lost. The service accepts such a token once more, and only
                # once.
                return await fetch()
        except KopeckError as error:
            if isinstance(error, TransportError) and not error.sent:
                raise
        return await self._fetch_by_login()

    async def _fetch_by_login(self) -> TokenPair:
        body = to_json({"login": self._credentials.login, "password": self._credentials.password})
        call = Call(operations.TOKEN_ACCESS, body=body)
        return await retrying(self._retry, lambda: self._fetch(call), lambda error: error.is_transient)

    async def _fetch(self, call: Call) -> TokenPair:
        answer = await self._transport.send(call, ("x-api-key", self._credentials.api_key))
        return decode(TokenPair, answer.value)
