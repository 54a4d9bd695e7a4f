"""Cards, what they may spend, and what was paid with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from uuid import UUID

from kopeck.wire import named
from kopeck.words import BankStatus, CardStatus, CardType, LimitPeriod, TransactionType


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A part of the day, each end `HH:MM`.

    One that starts later than it ends runs over midnight, and counts for the day on which it starts.
    """

    start: str = named("from")
    """The first minute."""
    end: str = named("to")
    """The minute after the last one; `24:00` is the end of the day."""


@dataclass(frozen=True, slots=True)
class MerchantCategories:
    """Merchants by their category codes, four digits (`5812`) or a range (`5411-5499`): `only` these, or all `except` these."""

    only: tuple[str, ...] | None = None
    except_: tuple[str, ...] | None = named("except", default=None)


@dataclass(frozen=True, slots=True)
class CardLimit:
    """What a card may spend: unlimited, or any of an amount per period, weekdays, times of day and merchant categories."""

    unlimited: bool = False
    """No limit but the card's balance. Nothing else may be set beside it."""
    amount: int | None = None
    """What may be spent in a period, in kopecks. Goes with `period`."""
    period: LimitPeriod | None = None
    days: tuple[int, ...] = ()
    """The weekdays on which it pays, 1 (Monday) to 7 as in `date.isoweekday`. Empty: on any day."""
    times: tuple[TimeWindow, ...] = ()
    """The times of day at which it pays. Empty: at any time."""
    merchant_categories: MerchantCategories | None = None
    """The merchants at which it pays. `None`: at any."""


@dataclass(frozen=True, slots=True)
class AccountBalance:
    """The balance of a card's account at the bank, as of its last daily refresh."""

    value: int
    """In kopecks."""
    updated_at: datetime = named("updateAt", "updatedAt")
    """In the service's time zone."""


@dataclass(frozen=True, slots=True)
class CardBalance:
    """The balance of a card."""

    id_card: UUID
    balance_account: AccountBalance
    balance: int
    """In kopecks."""
    can_to_up: int
    """By how much the card can be topped up, in kopecks."""


@dataclass(frozen=True, slots=True)
class Card(CardBalance):
    """A card."""

    custom_card_id: int
    """The number on the bank's side: 13 digits (EAN) of a plastic card, 10 of a virtual one."""
    date_until: date
    """The last day on which the card is valid."""
    limit: CardLimit
    activated: bool
    """Whether the card can be used; a plastic one can from its issue on."""
    bank_status: BankStatus
    """Whether the card can pay, by the bank and by the partner."""
    card_type: CardType = named("type")
    id_employee: UUID | None = None
    """The employee; `None` for an unassigned card."""
    status_card: CardStatus | None = None
    """What the card is to its employee; `None` for an unassigned card."""
    activated_at: date | None = None


@dataclass(frozen=True, slots=True)
class AvailableCard:
    """A card that is free to be linked to an employee."""

    id_card: UUID
    custom_id_card: str
    """The number on the bank's side, to link the card by."""
    type_card: CardType
    date_until: date
    """The last day on which the card is valid."""
    bank_status: BankStatus
    """Whether the card can pay."""


@dataclass(frozen=True, slots=True)
class LinkedCard:
    """A card and the employee it is linked to."""

    id_employee: UUID
    id_card: UUID
    status_card: CardStatus


@dataclass(frozen=True, slots=True)
class UnlinkedCard:
    """A card and the employee it was linked to."""

    id_employee: UUID
    id_card: UUID


@dataclass(frozen=True, slots=True)
class Transaction:
    """A movement of money on a card."""

    id: int
    date_execution_at: date
    """In the service's time zone."""
    time_execution_at: time
    amount: int
    """In kopecks; positive in either direction."""
    transaction_type: TransactionType = named("type")
    place: str | None = None
    """The merchant's outlet."""
    mcc: str | None = None
    """The merchant's category code."""
    merchant_id: str | None = None


@dataclass(frozen=True, slots=True)
class PaymentAnswer:
    """Whether a card would pay an amount."""

    allowed: bool
    reason: str | None = None
    """Why not, for people."""
    code: str | None = None
    """Why not, for programs: `insufficient_funds` and others."""
    remaining: int | None = None
    """What the limit leaves in the period, this payment not taken off, in kopecks; `None` without such a limit."""
    resets_at: datetime | None = None
    """When the next period begins, in the service's time zone; `None` without such a limit."""
