"""What moved on the partner's balance and on its cards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from uuid import UUID

from kopeck.models.page import PageMeta
from kopeck.wire import named
from kopeck.words import EntrySourceKind, EntryType, TransactionType


@dataclass(frozen=True, slots=True)
class EntrySource:
    """What an entry of the balance belongs to."""

    kind: EntrySourceKind
    id: UUID | None = None
    """The request, if it is one."""
    reference: str | None = None
    """What you call the request, or the reference of the deposit or payment."""


@dataclass(frozen=True, slots=True)
class BalanceEntry:
    """An entry of the balance, in kopecks."""

    seq: int
    """Its number: from 1, without gaps, in the order of booking."""
    at: datetime
    """When it was booked, in the service's time zone."""
    amount: int
    """By how much it changed what you can spend; 0 for a DEBIT, which takes what was held."""
    balance: int
    """All of your money after it."""
    hold: int
    """What was held after it."""
    of: EntrySource
    entry_type: EntryType = named("type")
    available: int = 0
    """What you could spend after it: `balance - hold`."""
    balance_change: int = 0
    """By how much it changed all of your money: `amount + hold_change`."""
    hold_change: int = 0
    """By how much it changed what was held."""


@dataclass(frozen=True, slots=True)
class BalanceEntries:
    """A page of the entries of the balance, with the balances at the ends of the period and their two parts."""

    opening: int
    closing: int
    data: tuple[BalanceEntry, ...]
    meta: PageMeta
    opening_hold: int = 0
    opening_available: int = 0
    closing_hold: int = 0
    closing_available: int = 0

    @property
    def next(self) -> int | None:
        """The number of the page after this one, if there is one."""
        return self.meta.current_page + 1 if self.meta.current_page < self.meta.last_page else None


@dataclass(frozen=True, slots=True)
class PartnerTransaction:
    """A transaction among those of all cards."""

    seq: int
    """Its number among your transactions: from 1, without gaps, in the order in which the service received them."""
    id_card: UUID
    id: int
    date_execution_at: date
    time_execution_at: time
    amount: int
    """In kopecks; positive in either direction."""
    transaction_type: TransactionType = named("type")
    id_employee: UUID | None = None
    """Who has the card."""
    custom_id: str | None = None
    place: str | None = None
    mcc: str | None = None
    merchant_id: str | None = None


@dataclass(frozen=True, slots=True)
class TransactionFeed:
    """A piece of the transactions of all cards."""

    data: tuple[PartnerTransaction, ...]
    next: int
    """The `after` of the following request."""


class FileFormat(Enum):
    """The form of a statement's file."""

    CSV = "text/csv"
    """The entries."""
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    """A spreadsheet of entries and totals."""


@dataclass(frozen=True, slots=True)
class StatementTotal:
    """The entries of one type in a month."""

    number: int
    amount: int
    """By how much they changed what you can spend, in kopecks."""
    entry_type: EntryType = named("type")
    balance_change: int = 0
    """By how much they changed all of your money: `amount + hold_change`."""
    hold_change: int = 0
    """By how much they changed what is held."""


@dataclass(frozen=True, slots=True)
class StatementDay:
    """A day of a month, in kopecks."""

    date: date
    opening: int
    closing: int
    amount: int
    """By how much it changed what you can spend."""
    balance_change: int = 0
    """By how much it changed all of your money: `amount + hold_change`."""
    hold_change: int = 0
    """By how much it changed what is held."""
    opening_hold: int = 0
    opening_available: int = 0
    closing_hold: int = 0
    closing_available: int = 0


@dataclass(frozen=True, slots=True)
class Statement:
    """What moved on the balance in a month, in kopecks."""

    month: str
    complete: bool
    """Whether the month is over: else more may come."""
    opening: int
    closing: int
    totals: tuple[StatementTotal, ...]
    days: tuple[StatementDay, ...]
    """The days up to today."""
    opening_hold: int = 0
    """What was held at its start."""
    opening_available: int = 0
    """What you could spend at its start: `opening - opening_hold`."""
    closing_hold: int = 0
    """What was held at its end."""
    closing_available: int = 0
    """What you could spend at its end: `closing - closing_hold`."""
