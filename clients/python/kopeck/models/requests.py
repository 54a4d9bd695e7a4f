"""Orders, top-ups, changes of limits, closings and withdrawals: what is accepted first and carried out afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import UUID

from kopeck.wire import named
from kopeck.words import CardType, ClosingReason, OrderKind, RequestState


@dataclass(frozen=True, slots=True)
class RequestStatus:
    """A request and its state."""

    id: UUID = named("orderId", "replenishmentId", "setLimitsCardsId", "closingId", "withdrawalId")
    state: RequestState = named("message")
    reference: str | None = None
    """What you call it."""


def with_reference(body: Mapping[str, object], reference: str | None) -> Mapping[str, object]:
    """The body of a new request, under its reference if it has one."""
    return body if reference is None else {**body, "reference": reference}


def list_query(
    status: RequestState | None,
    reference: str | None,
    from_date: date | None,
    to_date: date | None,
    page: int | None,
    per_page: int | None,
) -> Mapping[str, object]:
    """The query of a list of requests."""
    days = {"from": from_date, "to": to_date}
    return {"status": status, "reference": reference, **days, "page": page, "per_page": per_page}


@dataclass(frozen=True, slots=True)
class PlasticItem:
    """Plastic cards to order."""

    number_cards: int
    """1 to 10,000."""
    type_card: CardType
    """`MP4` or `KKL`."""
    delivery_address: str
    recipient: str
    """Full name of the person who receives them."""
    phone: str
    """Ten digits, without country code."""


@dataclass(frozen=True, slots=True)
class VirtualItem:
    """Virtual cards to order."""

    number_cards: int
    """1 to 5,000."""
    amount: int
    """What each holds from the start, 5,000 to 1,500,000 kopecks."""
    type_card: CardType = CardType.MLZ


@dataclass(frozen=True, slots=True)
class OrderCreated:
    """The answer to an accepted order."""

    order_id: UUID


@dataclass(frozen=True, slots=True)
class IssuedCard:
    """A card that was issued for an order."""

    custom_id_card: str
    """The number on the bank's side: 13 digits (EAN) of a plastic card, 10 of a virtual one."""
    type_card: CardType | None = None
    activation_code: str | None = field(default=None, repr=False)
    """The code that activates a virtual card. A secret: `repr` does not show it."""
    validity_period: date | None = None
    """The last day on which the code can be used."""
    amount: int | None = None
    """What a virtual card holds from the start, in kopecks."""


@dataclass(frozen=True, slots=True)
class OrderResult:
    """The cards that an order brought."""

    type_card: CardType
    """The kind of the cards; of an order of several kinds, that of the first."""
    data: tuple[IssuedCard, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """An order in the list of orders."""

    order_id: UUID
    status: RequestState
    kind: OrderKind
    type_card: CardType
    """The kind of the cards; of an order of several kinds, that of the first."""
    number_cards: int
    amount: int
    """What the order costs, in kopecks."""
    created_at: datetime
    """In the service's time zone."""
    status_updated_at: datetime = named("statusUpdatedAt", "statusUpdateAt")
    reference: str | None = None
    """What you call it."""


@dataclass(frozen=True, slots=True)
class TopUp:
    """A card to top up."""

    id_card: UUID | str
    """A main card."""
    amount: int = named("amountReplenishment")
    """By how much, in kopecks."""


@dataclass(frozen=True, slots=True)
class ReplenishmentCreated:
    """The answer to an accepted top-up request."""

    replenishment_id: UUID


@dataclass(frozen=True, slots=True)
class ReplenishmentResult:
    """What became of one card of a top-up request."""

    id_card: UUID
    succeeded: bool = named("resultReplenishment")
    amount: int = named("amountReplenishment")
    """By how much; of a refused card, the amount asked for. In kopecks."""
    error: str | None = named("errorReplenishment", default=None)
    """Why the card was not topped up."""


@dataclass(frozen=True, slots=True)
class Replenishment:
    """A top-up request in the list of them."""

    replenishment_id: UUID
    status: RequestState
    number_cards: int
    amount: int
    """The sum asked for, in kopecks."""
    created_at: datetime
    """In the service's time zone."""
    status_updated_at: datetime = named("statusUpdatedAt", "statusUpdateAt")
    reference: str | None = None
    """What you call it."""


@dataclass(frozen=True, slots=True)
class LimitChangeCreated:
    """The answer to an accepted change of limits."""

    set_limits_cards_id: UUID


@dataclass(frozen=True, slots=True)
class LimitResult:
    """What became of one card of a change of limits."""

    id_card: UUID
    succeeded: bool = named("resultLimit")
    error: str | None = named("errorLimit", default=None)
    """Why the card keeps its old limit."""


@dataclass(frozen=True, slots=True)
class LimitChange:
    """A change of limits in the list of them."""

    set_limits_cards_id: UUID
    status: RequestState
    number_cards: int
    created_at: datetime
    """In the service's time zone."""
    status_updated_at: datetime = named("statusUpdatedAt", "statusUpdateAt")
    reference: str | None = None
    """What you call it."""


@dataclass(frozen=True, slots=True)
class CardClosing:
    """A card to close."""

    id_card: UUID | str
    reason: ClosingReason
    """`LOST` and `STOLEN` block it at once."""


@dataclass(frozen=True, slots=True)
class ClosingCreated:
    """The answer to an accepted closing."""

    closing_id: UUID


@dataclass(frozen=True, slots=True)
class ClosingResult:
    """What became of one card of a closing."""

    id_card: UUID
    succeeded: bool = named("resultClosing")
    amount: int = named("amountReturned")
    """What came back to the balance; 0 if the card was not closed. In kopecks."""
    error: str | None = named("errorClosing", default=None)
    """Why the card was not closed."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A closing in the list of them."""

    closing_id: UUID
    status: RequestState
    number_cards: int
    amount_moved: int
    """What came back to the balance so far, in kopecks."""
    created_at: datetime
    """In the service's time zone."""
    status_updated_at: datetime = named("statusUpdatedAt", "statusUpdateAt")
    reference: str | None = None
    """What you call it."""


@dataclass(frozen=True, slots=True)
class CardWithdrawal:
    """A card to take money from."""

    id_card: UUID | str
    amount: int | None = None
    """How much, in kopecks; all that is on the card if it is left out."""


@dataclass(frozen=True, slots=True)
class WithdrawalCreated:
    """The answer to an accepted withdrawal."""

    withdrawal_id: UUID


@dataclass(frozen=True, slots=True)
class WithdrawalResult:
    """What became of one card of a withdrawal."""

    id_card: UUID
    succeeded: bool = named("resultWithdrawal")
    amount: int = named("amountWithdrawn")
    """What came back to the balance; 0 if nothing did. In kopecks."""
    error: str | None = named("errorWithdrawal", default=None)
    """Why nothing was taken."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A withdrawal in the list of them."""

    withdrawal_id: UUID
    status: RequestState
    number_cards: int
    amount: int | None
    """The sum asked for, in kopecks; `None` if it takes all that is on one of its cards."""
    amount_moved: int
    """What came back to the balance so far, in kopecks."""
    created_at: datetime
    """In the service's time zone."""
    status_updated_at: datetime = named("statusUpdatedAt", "statusUpdateAt")
    reference: str | None = None
    """What you call it."""
