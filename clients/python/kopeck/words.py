"""Words of the service. A newer service may add some, which then break no older client."""

from __future__ import annotations

from enum import Enum


class Word(str, Enum):
    """A word as the service writes it. One that this version does not know is kept as it came; see `known`."""

    @classmethod
    def _missing_(cls, value: object) -> Word | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = "UNKNOWN"
        unknown._value_ = value
        return unknown

    @property
    def known(self) -> bool:
        """Whether this version of the client knows the word."""
        return self._name_ in type(self).__members__

    def __str__(self) -> str:
        return str(self._value_)


class EmployeeStatus(Word):
    """What an employee is doing."""

    WORK = "WORK"
    VACATION = "VACATION"
    MEDICAL = "MEDICAL"
    """On sick leave."""
    DONT_WORK = "DONT_WORK"
    """Not working any more; archived."""


class CardType(Word):
    """The kind of a card."""

    MLZ = "MLZ"
    """Virtual card of the national payment system."""
    MP4 = "MP4"
    """Plastic card of the national payment system."""
    KKL = "KKL"
    """Plastic benefits-programme card of the national payment system."""
    P04 = "P04"
    """Plastic card of an international payment network; cannot be ordered."""
    CP4 = "CP4"
    """Plastic card of another international payment network; cannot be ordered."""


class CardStatus(Word):
    """What a card is to its employee."""

    MAIN = "MAIN"
    """The card that top-ups go to; an employee has one at most."""
    ADDITIONAL = "ADDITIONAL"
    TEMPORARILY_BLOCKED = "TEMPORARILY_BLOCKED"
    """Blocked by the partner, at the bank too: it neither pays nor is topped up."""


class BankStatus(Word):
    """Whether a card can pay, by the bank and by its partner."""

    OPEN = "OPEN"
    BLOCKING = "BLOCKING"
    """Blocked by the partner; the bank has not confirmed yet."""
    BLOCKED = "BLOCKED"
    """Blocked by the partner."""
    UNBLOCKING = "UNBLOCKING"
    """Not blocked by the partner any more; the bank has not confirmed yet."""
    BLOCKED_BY_BANK = "BLOCKED_BY_BANK"
    CLOSED = "CLOSED"


class TransactionType(Word):
    """The kind of a transaction, which tells the direction of its money."""

    REPLENISHMENT = "REPLENISHMENT"
    PAYMENT = "PAYMENT"
    REFUND = "REFUND"
    REVERSAL = "REVERSAL"
    """Money taken back from the card."""
    CORRECTION = "CORRECTION"


class ClosingReason(Word):
    """Why a card is closed."""

    LOST = "LOST"
    STOLEN = "STOLEN"
    DAMAGED = "DAMAGED"
    LEAVER = "LEAVER"
    """Its holder leaves the partner."""
    OTHER = "OTHER"


class EntryType(Word):
    """What an entry of the balance is."""

    DEPOSIT = "DEPOSIT"
    HOLD = "HOLD"
    """Held for a request."""
    DEBIT = "DEBIT"
    """What was held was spent."""
    RELEASE = "RELEASE"
    """What was held was released."""
    RETURN = "RETURN"
    """Money came back from a card."""
    WITHDRAWAL = "WITHDRAWAL"
    """Money was paid to you."""
    CORRECTION = "CORRECTION"
    """A deposit was reversed."""


class EntrySourceKind(Word):
    """What an entry of the balance belongs to."""

    ORDER = "order"
    REPLENISHMENT = "replenishment"
    CLOSING = "closing"
    WITHDRAWAL = "withdrawal"
    """Money taken back from cards."""
    DEPOSIT = "deposit"
    PARTNER_WITHDRAWAL = "partner_withdrawal"
    """A payment to you."""
    CORRECTION = "correction"
    """The reversal of a deposit."""


class LimitPeriod(Word):
    """The calendar period that an amount is for, in the service's time zone."""

    DAY = "CDAY"
    WEEK = "CWEEK"
    """From Monday."""
    MONTH = "CMONTH"
    QUARTER = "CQUARTET"


class OrderKind(Word):
    """What was ordered."""

    PLASTIC = "PLASTIC"
    VIRTUAL = "VIRTUAL"


class RequestState(Word):
    """The state of an order, a top-up request, a change of limits, a closing or a withdrawal."""

    NEW = "NEW"
    """Accepted; can still be cancelled."""
    IN_PROCESS = "IN_PROCESS"
    """Handed to the bank."""
    SUCCESS = "SUCCESS"
    """Done; the result can be read."""
    PART_SUCCESS = "PART_SUCCESS"
    """Done for some of the cards. Orders are never in this state."""
    DECLINE = "DECLINE"
    """Refused by the bank; nothing has changed."""
    REJECTED = "REJECTED"
    """Cancelled by the partner."""
    CONFIRMED = "CONFIRMED"
    """An order whose receipt the partner has confirmed."""

    @property
    def is_final(self) -> bool:
        """Whether the service is done with the request. A state that the client does not know is not final."""
        return self.known and self not in (RequestState.NEW, RequestState.IN_PROCESS)


class DeliveryStatus(Word):
    """Where a delivery to a webhook stands."""

    PENDING = "PENDING"
    """It waits for its first or next attempt."""
    DELIVERED = "DELIVERED"
    FAILED = "FAILED"
    """It was given up."""


class ErrorCode(Word):
    """The stable words by which the service names its refusals; docs/API.md says what to do about each."""

    BAD_CREDENTIALS = "bad_credentials"
    UNAUTHORIZED = "unauthorized"
    TOO_MANY_REQUESTS = "too_many_requests"
    NOT_FOUND = "not_found"
    EMPLOYEE_NOT_FOUND = "employee_not_found"
    CARD_NOT_FOUND = "card_not_found"
    CATEGORY_NOT_FOUND = "category_not_found"
    CATEGORY_EXISTS = "category_exists"
    CATEGORY_IN_USE = "category_in_use"
    EMPLOYEE_HAS_MAIN_CARD = "employee_has_main_card"
    CARD_ALREADY_LINKED = "card_already_linked"
    CARD_LINKED_TO_ANOTHER = "card_linked_to_another"
    CARD_NOT_AVAILABLE = "card_not_available"
    CARD_EXPIRED = "card_expired"
    CARD_BLOCKED = "card_blocked"
    CARD_IN_USE = "card_in_use"
    EMPLOYEE_HAS_CARDS = "employee_has_cards"
    CARD_CLOSED = "card_closed"
    CARD_NOT_MAIN = "card_not_main"
    CARD_IN_REQUEST = "card_in_request"
    INSUFFICIENT_BALANCE = "insufficient_balance"
    ORDER_NOT_FOUND = "order_not_found"
    ORDER_CANCELLED = "order_cancelled"
    ORDER_DECLINED = "order_declined"
    ORDER_NOT_PROCESSED = "order_not_processed"
    ORDER_NOT_CONFIRMABLE = "order_not_confirmable"
    ORDER_NOT_CANCELLABLE = "order_not_cancellable"
    REQUEST_NOT_FOUND = "request_not_found"
    REQUEST_NOT_PROCESSED = "request_not_processed"
    REQUEST_CANCELLED = "request_cancelled"
    REQUEST_NOT_CANCELLABLE = "request_not_cancellable"
    EVENTS_EXPIRED = "events_expired"
    EVENTS_AHEAD = "events_ahead"
    TOO_MANY_WEBHOOKS = "too_many_webhooks"
    WEBHOOK_NOT_FOUND = "webhook_not_found"
    WEBHOOK_DISABLED = "webhook_disabled"
    LIMIT_CONFLICT = "limit_conflict"
    REQUEST_IN_PROGRESS = "request_in_progress"
    REQUEST_TIMEOUT = "request_timeout"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    URI_TOO_LONG = "uri_too_long"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    BANK_UNAVAILABLE = "bank_unavailable"
    INTERNAL = "internal"
