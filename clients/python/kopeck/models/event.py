"""Events: what has happened to the partner's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

from kopeck.wire import named


def moment(value: object) -> datetime:
    """A moment by RFC 3339, in UTC."""
    if not isinstance(value, str):
        raise ValueError
    return datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def _data(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once. It is recognised by its identifier if it is sent again."""

    id: UUID
    seq: int
    """Its number in the feed. An event that becomes visible later has a greater one."""
    type: str
    """What happened, such as `order.status`. Pass over types that you do not know."""
    created_at: datetime = named("createdAt", read=moment)
    """When it happened, in UTC."""
    data: Mapping[str, Any] = named("data", read=_data)
    """Its data, with the field names of the reference; the fields depend on the type."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A piece of the feed."""

    data: tuple[Event, ...]
    """The events, in the order of their numbers."""
    next: int
    """The `after` of the following call."""
    oldest: int
    """The least number that is kept."""
    newest: int | None = None
    """The greatest number that was given; one less than `oldest` if there is no event. An older service does not say it."""
