"""What can go wrong with a call. No error holds a token, a password, a sealing key or a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kopeck.words import ErrorCode, RequestState

_PASSING_STATUSES = frozenset((408, 429, 500, 502, 503, 504))


class KopeckError(Exception):
    """Whatever goes wrong with a call."""

    idempotency_key: str | None = None
    """The key of the failed call, if it was to change something. Call again under it to repeat that very call."""

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed a moment later. The client has then tried as often as it may."""
        return False

    @property
    def may_have_happened(self) -> bool:
        """Whether the service may have done what was asked without a response arriving."""
        return False


class ConfigError(KopeckError):
    """The client is set up, or called, in a way that cannot work; nothing was sent."""


class TransportError(KopeckError):
    """The network failed."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent
        """Whether the call may have reached the service."""

    @property
    def is_transient(self) -> bool:
        return True

    @property
    def may_have_happened(self) -> bool:
        return self.sent


class TlsError(TransportError):
    """No TLS connection to the service can be made, and a retry will not change that; nothing was sent.

    Its certificate is not accepted, or one side speaks TLS and the other does not.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)

    @property
    def is_transient(self) -> bool:
        return False


class CallTimeoutError(KopeckError):
    """No whole answer came in time. The service may have got the call all the same."""

    @property
    def is_transient(self) -> bool:
        return True

    @property
    def may_have_happened(self) -> bool:
        return True


class ApiError(KopeckError):
    """The service refused the call."""

    def __init__(
        self,
        status: int,
        code: ErrorCode | None,
        message: str,
        *,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__()
        self.status = status
        """The HTTP status."""
        self.code = code
        """The stable word for the reason; of a list of cards, that of the first. `None` where there is none."""
        self.message = message
        """The reason in words, for a person."""
        self.request_id = request_id
        """The id under which the service logged the call, to quote to the support."""
        self.retry_after = retry_after
        """How many seconds the service asks to wait before the next try."""

    def __str__(self) -> str:
        return f"status {self.status}{f' {self.code}' if self.code else ''}: {self.message}"

    def add_reason(self, reason: str) -> None:
        """Adds what the client knows of the reason to the message."""
        self.message = f"{self.message}; {reason}"

    @property
    def is_transient(self) -> bool:
        return self.status in _PASSING_STATUSES or self.code == ErrorCode.REQUEST_IN_PROGRESS

    @property
    def may_have_happened(self) -> bool:
        return self.status in (500, 502, 504)


@dataclass(frozen=True, slots=True)
class FieldFault:
    """A faulty field of a call."""

    field: str
    """The name of the field; an item of a list is named `cards[3].idCard`."""
    message: str
    """That the value is not correct; always the same text."""
    detail: str | None = None
    """What is wrong with the value, in words."""

    def __str__(self) -> str:
        return f"{self.field}: {self.detail or self.message}"


@dataclass(frozen=True, slots=True)
class CardFault:
    """A card that prevents a request."""

    message: str
    code: ErrorCode | None = None
    id_card: UUID | None = None
    """The card; `None` if the request named it otherwise and there is none."""
    custom_id_card: str | None = None
    """Its number, if that is how the request named it."""
    id_employee: UUID | None = None
    """The employee, if that is how the request named the card."""
    custom_id: str | None = None
    """The employee's `custom_id`, if that is how the request named the card."""

    def __str__(self) -> str:
        name = self.custom_id_card or self.id_employee or self.custom_id or self.id_card
        return f"{name}: {self.message}" if name else self.message


class InvalidError(ApiError):
    """The service found faulty values (422). All faulty fields are listed at once."""

    def __init__(self, faults: Sequence[FieldFault], *, request_id: str | None = None) -> None:
        listed = "; ".join(map(str, faults))
        super().__init__(422, None, f"faulty values: {listed}", request_id=request_id)
        self.faults = tuple(faults)


class CardsError(ApiError):
    """Some of the cards of a request stand in its way (404 or 409 of a top-up or limit change)."""

    def __init__(self, status: int, faults: Sequence[CardFault], *, request_id: str | None = None) -> None:
        listed = "; ".join(map(str, faults))
        code = faults[0].code if faults else None
        super().__init__(status, code, f"faulty cards: {listed}", request_id=request_id)
        self.faults = tuple(faults)


class SealingError(KopeckError):
    """A value is not sealed as it should be.

    An answer may then have been changed on its way, or answer another call, or the clocks of client and service
    differ by more than five minutes.
    """


class DecodeError(KopeckError):
    """The answer is not of the form that the call answers with."""


class UnfinishedError(KopeckError):
    """A request was not finished within the time to wait for it."""

    def __init__(self, last: RequestState) -> None:
        super().__init__(f"the request is not finished, last seen: {last}")
        self.last = last
        """The state seen last."""
