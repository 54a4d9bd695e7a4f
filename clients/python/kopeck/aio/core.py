"""The way of a call through the client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from kopeck.aio.retrying import retrying
from kopeck.aio.session import Session
from kopeck.aio.transport import Transport
from kopeck.call import Call, Id, call_of
from kopeck.codec import Answer
from kopeck.errors import ApiError, KopeckError
from kopeck.operation import Operation
from kopeck.retry import RetryPolicy
from kopeck.tokens import Tokens


class Core:
    """What all groups of calls go through."""

    def __init__(self, transport: Transport, session: Session, retry: RetryPolicy) -> None:
        self.transport = transport
        self.session = session
        self._retry = retry

    async def call(
        self,
        operation: Operation,
        *,
        id: Id | tuple[Id, ...] = (),
        query: Mapping[str, object] | None = None,
        body: object = None,
        key: str | None = None,
        month: str | None = None,
        accept: str | None = None,
        if_match: str | None = None,
    ) -> object:
        """Brings one logical call through and answers its JSON, or the bytes of the file that it accepts.

        Every try is the same call under the same key, with a nonce of its own. Parameters that are `None` are left
        out. `id` is the identifier in the path, or several in their order.
        """
        ids = id if isinstance(id, tuple) else (id,)
        call = call_of(operation, ids, query, body, key, month=month, accept=accept, if_match=if_match)
        return (await self._through(call)).value

    async def read_tagged(self, operation: Operation, *, id: Id) -> Answer:
        """Reads one thing, with its entity tag."""
        return await self._through(call_of(operation, (id,), None, None, None))

    async def _through(self, call: Call) -> Answer:
        failed: KopeckError
        try:
            return await retrying(self._retry, lambda: self._attempt(call), lambda error: error.is_transient)
        except _NoTokensError as error:
            failed = error.reason
        except KopeckError as error:
            failed = error
        failed.idempotency_key = call.key
        raise failed

    async def _attempt(self, call: Call) -> Answer:
        tokens = await _final(self.session.tokens)
        try:
            return await self.transport.send(call, tokens.credential)
        except ApiError as error:
            if error.status != 401:
                raise
        renewed = await _final(lambda: self.session.tokens_after(tokens))
        return await self.transport.send(call, renewed.credential)


class _NoTokensError(Exception):
    """The session has no tokens. It has tried again by itself, so that no retry of the call shall do it again."""

    def __init__(self, reason: KopeckError) -> None:
        super().__init__()
        self.reason = reason


async def _final(get: Callable[[], Awaitable[Tokens]]) -> Tokens:
    try:
        return await get()
    except KopeckError as error:
        raise _NoTokensError(error) from None
