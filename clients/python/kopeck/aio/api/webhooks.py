"""Webhooks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from uuid import UUID

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.errors import DecodeError
from kopeck.models.page import Page, decode_page
from kopeck.parameters import KEEP, Keep
from kopeck.models.generated import Webhook, WebhookDelivery
from kopeck.wire import decode
from kopeck.words import DeliveryStatus


class Webhooks:
    """Calls about webhooks. `kopeck.WebhookVerifier` checks what they deliver."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(
        self,
        url: str,
        *,
        types: Sequence[str] | None = None,
        description: str | None = None,
        sealed: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Webhook:
        """Creates a webhook for events of some types or of all. The answer alone has its `secret`."""
        given = {
            "url": url,
            "types": None if types is None else list(types),
            "description": description,
            "sealed": sealed,
        }
        body = {name: value for name, value in given.items() if value is not None}
        return decode(Webhook, await self._core.call(operations.WEBHOOK_CREATE, body=body, key=idempotency_key))

    async def list(self, *, page: int | None = None, per_page: int | None = None) -> Page[Webhook]:
        """Lists webhooks, the first created first; there are ten at most."""
        query = {"page": page, "per_page": per_page}
        return decode_page(Webhook, await self._core.call(operations.WEBHOOK_LIST, query=query))

    async def get(self, id_webhook: Id) -> Webhook:
        """The webhook with this identifier."""
        return decode(Webhook, await self._core.call(operations.WEBHOOK_GET, id=id_webhook))

    async def update(
        self,
        id_webhook: Id,
        *,
        url: str | Keep = KEEP,
        types: Sequence[str] | Keep | None = KEEP,
        description: str | Keep = KEEP,
        enabled: bool | Keep = KEEP,
        sealed: bool | Keep = KEEP,
        idempotency_key: str | None = None,
    ) -> Webhook:
        """Changes a webhook. What is not given stays as it is; `types=None` is all types."""
        given: dict[str, object] = {
            "url": url,
            "types": list(types) if isinstance(types, Sequence) else types,
            "description": description,
            "enabled": enabled,
            "sealed": sealed,
        }
        body = {name: value for name, value in given.items() if value is not KEEP}
        answer = await self._core.call(operations.WEBHOOK_UPDATE, id=id_webhook, body=body, key=idempotency_key)
        return decode(Webhook, answer)

    async def delete(self, id_webhook: Id, *, idempotency_key: str | None = None) -> Webhook:
        """Deletes a webhook with its deliveries, and returns what it was."""
        return decode(Webhook, await self._core.call(operations.WEBHOOK_DELETE, id=id_webhook, key=idempotency_key))

    async def rotate_secret(self, id_webhook: Id, *, idempotency_key: str | None = None) -> str:
        """Gives a webhook another secret. For 24 hours the one before signs too."""
        answer = await self._core.call(operations.WEBHOOK_ROTATE_SECRET, id=id_webhook, key=idempotency_key)
        return str(_field(answer, "secret"))

    async def ping(self, id_webhook: Id, *, idempotency_key: str | None = None) -> UUID:
        """Sends a test event, and returns its identifier."""
        answer = await self._core.call(operations.WEBHOOK_PING, id=id_webhook, key=idempotency_key)
        return UUID(str(_field(answer, "eventId")))

    async def deliveries(
        self,
        id_webhook: Id,
        *,
        status: DeliveryStatus | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[WebhookDelivery]:
        """Lists the deliveries of a webhook, newest first."""
        query = {"status": status, "page": page, "per_page": per_page}
        answer = await self._core.call(operations.WEBHOOK_DELIVERIES, id=id_webhook, query=query)
        return decode_page(WebhookDelivery, answer)

    def all_deliveries(self, id_webhook: Id, *, per_page: int = 100) -> AsyncIterator[WebhookDelivery]:
        """All deliveries of a webhook, newest first, read page by page as they are asked for."""
        return pages(
            lambda page, size: self.deliveries(id_webhook, page=page, per_page=size),
            per_page,
            lambda delivery: delivery.id_delivery,
        )

    async def redeliver(
        self,
        id_webhook: Id,
        *,
        event_id: Id | None = None,
        after: int | None = None,
        idempotency_key: str | None = None,
    ) -> int:
        """Delivers an event once more, or all behind a number of the feed that were not delivered. Returns how many."""
        given = {"eventId": event_id, "after": after}
        body = {name: value for name, value in given.items() if value is not None}
        answer = await self._core.call(operations.WEBHOOK_REDELIVER, id=id_webhook, body=body, key=idempotency_key)
        return int(str(_field(answer, "deliveries")))


def _field(answer: object, name: str) -> object:
    if not isinstance(answer, Mapping) or name not in answer:
        raise DecodeError(f"the answer has no {name}")
    return answer[name]
