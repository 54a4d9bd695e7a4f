"""A call before it is sent, and how it is written, in clear or sealed."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote_plus
from uuid import UUID

from kopeck import sealing
from kopeck.errors import ConfigError, SealingError
from kopeck.operation import Operation
from kopeck.sealing import RequestContext, ResponseContext, SealingKey
from kopeck.wire import encode, identifier

Id = UUID | str
"""An identifier, as `UUID` or as its text."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_CAPITAL = re.compile(r"([A-Z])")
_KEY = re.compile(r"[!-~]{1,255}")
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")

JSON = "application/json"
SEALED_JSON = "application/sealed+json"


@dataclass(frozen=True, slots=True)
class Call:
    """One logical call. It is written anew for each try, with a nonce of its own."""

    operation: Operation
    values: tuple[UUID | str, ...] = ()
    """What stands in place of the path's placeholders, in their order."""
    accept: str | None = None
    """The media type of a file to ask for in place of JSON. Files are never sealed."""
    query: Mapping[str, str | int] = field(default_factory=dict, repr=False)
    body: str | None = field(default=None, repr=False)
    key: str | None = None
    """Its idempotency key; present if the call changes something."""
    if_match: str | None = None
    """The version that the change is for."""

    def path_with(self, shown: Callable[[str, UUID | str], str]) -> str:
        """The path. In place of each placeholder stands what `shown` makes of its name and its value."""
        values = iter(self.values)
        return _PLACEHOLDER.sub(lambda found: shown(found[1], next(values)), self.operation.path)


def call_of(
    operation: Operation,
    ids: tuple[Id, ...],
    query: Mapping[str, object] | None,
    body: object,
    key: str | None,
    *,
    month: str | None = None,
    accept: str | None = None,
    if_match: str | None = None,
) -> Call:
    """The call of an operation. Parameters that are `None` are left out. Raises `ConfigError`."""
    try:
        parameters = {name: encode(value) for name, value in (query or {}).items() if value is not None}
        text = None if body is None else to_json(encode(body))
        # Half of a surrogate pair is no text that could be sent.
        (_query_text(parameters) + (text or "")).encode()
    except (TypeError, ValueError) as error:
        # `from None`: the cause would show the value, which may be personal.
        raise ConfigError(f"a value cannot be sent: {type(error).__name__}") from None
    return Call(
        operation,
        values=_identifiers(operation, ids) if month is None else (_checked_month(month),),
        accept=accept,
        query=parameters,
        body=text,
        key=_checked_key(key) if operation.changes else None,
        if_match=_checked_tag(if_match),
    )


def _identifiers(operation: Operation, ids: tuple[Id, ...]) -> tuple[UUID, ...]:
    names = (_CAPITAL.sub(r"_\1", name).lower() for name in _PLACEHOLDER.findall(operation.path))
    return tuple(identifier(name, id) for name, id in zip(names, ids))


def _checked_month(month: object) -> str:
    if not isinstance(month, str) or not _MONTH.fullmatch(month):
        raise ConfigError("a month is a text of the form YYYY-MM")
    return month


def new_key() -> str:
    """A fresh idempotency key: the time in milliseconds and 80 random bits.

    Keys that ascend with time stand side by side where the service records them, which costs it less.
    """
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def _checked_key(given: str | None) -> str:
    if given is None:
        return new_key()
    if not _KEY.fullmatch(given):
        raise ConfigError("an idempotency key is 1 to 255 visible ASCII characters")
    return given


def _checked_tag(given: str | None) -> str | None:
    if given is not None and not _KEY.fullmatch(given):
        raise ConfigError("an entity tag consists of visible ASCII characters")
    return given


@dataclass(frozen=True, slots=True)
class Rendered:
    """A call as it is sent."""

    target: str = field(repr=False)
    """Path and query."""
    body: bytes | None = field(default=None, repr=False)
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Sealing:
    """What is sealed, and with what."""

    key: SealingKey
    """Seals every call, and is the first to open answers."""
    other_keys: tuple[SealingKey, ...]
    """Open answers too: around a rotation the service may seal under the other key."""
    parameters: bool
    answers: bool

    def render(self, call: Call, nonce: str, now_unix: int) -> Rendered:
        """The call with its body sealed and, if that is wanted, its query too. See `_seals_identifiers`."""
        bound = self._bound_path(call)

        def seal(slot: str, plaintext: str) -> str:
            context = RequestContext(call.operation.method, bound, nonce, slot)
            return sealing.seal(self.key, context, now_unix, plaintext)

        path, query = call.path_with(_plain), call.query
        if self._seals_identifiers(call):
            path = call.path_with(lambda name, value: seal(f"path:{name}", str(value)))
        if self.parameters and query:
            query = {"sealed": seal("query", to_json(query))}
        target = path + _query_text(query)
        if call.body is None:
            return Rendered(target)
        return Rendered(target, to_json({"sealed": seal("body", call.body)}).encode(), SEALED_JSON)

    def open(self, call: Call, nonce: str, status: int, now_unix: int, body: str) -> str:
        """Opens the body of an answer to `call`."""
        text = _envelope(body)
        key = sealing.key_named((self.key, *self.other_keys), text, "client")
        context = ResponseContext(call.operation.method, self._bound_path(call), nonce, status)
        return sealing.open_sealed(key, context, now_unix, text)

    def _seals_identifiers(self, call: Call) -> bool:
        """As an option, and always where nothing else would show that a change comes from the partner: the policy
        `required` refuses one without a body and with a clear path."""
        return self.parameters or (call.operation.changes and call.body is None)

    def _bound_path(self, call: Call) -> str:
        sealed = self._seals_identifiers(call)
        return sealing.bound_path(call.path_with((lambda name, value: "*") if sealed else _plain))


def render_clear(call: Call) -> Rendered:
    """The call in clear."""
    target = call.path_with(_plain) + _query_text(call.query)
    return Rendered(target) if call.body is None else Rendered(target, call.body.encode(), JSON)


def to_json(value: object) -> str:
    """JSON without blanks, in Unicode."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain(name: str, value: UUID | str) -> str:
    return str(value)


def _query_text(query: Mapping[str, str | int]) -> str:
    if not query:
        return ""
    encode: Callable[[str | int], str] = lambda value: quote_plus(str(value))
    return "?" + "&".join(f"{encode(name)}={encode(value)}" for name, value in query.items())


def _envelope(body: str) -> str:
    try:
        text = json.loads(body)["sealed"]
    except (ValueError, TypeError, KeyError):
        text = None
    if not isinstance(text, str):
        raise SealingError("the answer is no sealed body")
    return text
