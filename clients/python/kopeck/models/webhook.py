"""Webhooks: addresses to which events are delivered."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from kopeck.models.event import moment
from kopeck.wire import named
from kopeck.words import DeliveryStatus


def _moment_or_none(value: object) -> datetime | None:
    return None if value is None else moment(value)


def _types(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError
    return tuple(str(one) for one in value)


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address to which events are delivered. Times are in UTC."""

    id_webhook: UUID
    url: str
    description: str
    sealed: bool
    """Whether the data of events are encrypted under the partner's sealing key."""
    enabled: bool
    pending: int
    """Deliveries that have not ended."""
    created_at: datetime = named("createdAt", read=moment)
    types: tuple[str, ...] | None = named("types", read=_types, default=None)
    """The types that are delivered; `None` for all."""
    last_success_at: datetime | None = named("lastSuccessAt", read=_moment_or_none, default=None)
    last_failure_at: datetime | None = named("lastFailureAt", read=_moment_or_none, default=None)
    failing_since: datetime | None = named("failingSince", read=_moment_or_none, default=None)
    """The first failed attempt since the last accepted delivery. Three days later the webhook is disabled."""
    secret: str | None = field(default=None, repr=False)
    """What signs deliveries, `whsec_` and base64 of 32 bytes: only in the answer to `create`."""


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """An event on its way to a webhook. Times are in UTC."""

    id_delivery: UUID
    event_id: UUID
    seq: int
    """The number of the event in the feed."""
    type: str
    status: DeliveryStatus
    attempts: int
    last_attempt_at: datetime | None = named("lastAttemptAt", read=_moment_or_none, default=None)
    last_status_code: int | None = None
    last_error: str | None = None
    next_attempt_at: datetime | None = named("nextAttemptAt", read=_moment_or_none, default=None)
