"""The way of a call through the client."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar
from uuid import UUID

from kopeck.call import Call, to_json
from kopeck.errors import ApiError, ConfigError, KopeckError
from kopeck.models.page import Page
from kopeck.operations import Operation
from kopeck.retry import RetryPolicy
from kopeck.session import Session, Tokens
from kopeck.transport import Transport
from kopeck.wire import encode, identifier

T = TypeVar("T")

Id = UUID | str
"""An identifier, as `UUID` or as its text."""

_KEY = re.compile(r"[!-~]{1,255}")


class Core:
    """What all groups of calls go through."""

    def __init__(self, transport: Transport, session: Session, retry: RetryPolicy) -> None:
        self.transport = transport
        self.session = session
        self._retry = retry

    def call(
        self,
        operation: Operation,
        *,
        id: Id | None = None,
        query: Mapping[str, object] | None = None,
        body: object = None,
        key: str | None = None,
    ) -> object:
        """Brings one logical call through and answers its JSON.

        Every try is the same call under the same key, with a nonce of its own. Parameters that are `None` are left
        out.
        """
        parameters = {name: encode(value) for name, value in (query or {}).items() if value is not None}
        call = Call(
            operation,
            id=None if id is None else identifier(id),
            query=parameters,
            body=None if body is None else to_json(encode(body)),
            key=_key(key) if operation.changes else None,
        )
        failed: KopeckError
        try:
            return self._retry.run(lambda: self._attempt(call), lambda error: error.is_transient)
        except _NoTokensError as error:
            failed = error.reason
        except KopeckError as error:
            failed = error
        failed.idempotency_key = call.key
        raise failed

    def _attempt(self, call: Call) -> object:
        tokens = _final(self.session.tokens)
        try:
            return self.transport.send(call, tokens.credential)
        except ApiError as error:
            if error.status != 401:
                raise
        renewed = _final(lambda: self.session.tokens_after(tokens))
        return self.transport.send(call, renewed.credential)


def pages(read: Callable[[int], Page[T]]) -> Iterator[T]:
    """The records of a whole list, read page by page as they are asked for."""
    number: int | None = 1
    while number is not None:
        page = read(number)
        yield from page.data
        number = page.next


def new_key() -> str:
    """A fresh idempotency key: the time in milliseconds and 80 random bits.

    Keys that ascend with time stand side by side where the service records them, which costs it less.
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def _key(given: str | None) -> str:
    if given is None:
        return new_key()
    if not _KEY.fullmatch(given):
        raise ConfigError("an idempotency key is 1 to 255 visible ASCII characters")
    return given


class _NoTokensError(Exception):
    """The session has no tokens. It has tried again by itself, so that no retry of the call shall do it again."""

    def __init__(self, reason: KopeckError) -> None:
        super().__init__()
        self.reason = reason


def _final(get: Callable[[], Tokens]) -> Tokens:
    try:
        return get()
    except KopeckError as error:
        raise _NoTokensError(error) from None
