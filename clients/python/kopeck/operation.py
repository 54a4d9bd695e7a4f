"""An operation of the service. A call is made of one of them and of nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the service."""

    method: str
    path: str
    """With its `{placeholders}`."""
    changes: bool
    """Whether it changes something. Its calls have an idempotency key then."""
