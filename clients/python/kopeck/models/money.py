"""The partner's balance, and what a sandbox answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kopeck.wire import named


@dataclass(frozen=True, slots=True)
class Balance:
    """The partner's money, in kopecks."""

    balance: int
    """All of it."""
    hold: int
    """What of it is held for requests in process."""
    available: int
    """What is left to spend."""
    updated_at: datetime = named("updatedAt", "updateAt")
    """The last change, in the service's time zone."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """What became of a purchase."""

    approved: bool
    reason: str | None = None
    """Why the card did not pay, for people."""
    code: str | None = None
    """Why the card did not pay, for programs."""
    transaction_id: int | None = None
    """The transaction; a declined purchase is none."""


@dataclass(frozen=True, slots=True)
class Refund:
    """What became of a refund."""

    transaction_id: int
    """The refund, which is a transaction of its own."""
