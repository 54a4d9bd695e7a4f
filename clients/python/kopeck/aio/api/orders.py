"""Orders of cards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.page import Page, decode_page
from kopeck.models.requests import (
    Order,
    OrderCreated,
    OrderResult,
    PlasticItem,
    RequestStatus,
    VirtualItem,
    list_query,
    with_reference,
)
from kopeck.aio.wait import Progress, until_final
from kopeck.wire import decode
from kopeck.words import RequestState


class Orders:
    """Calls about orders of cards."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def plastic(
        self, items: Sequence[PlasticItem], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> OrderCreated:
        """Orders plastic cards; 1 to 100 items. `reference` is what you call the order."""
        body = with_reference({"data": list(items)}, reference)
        answer = await self._core.call(operations.ORDER_PLASTIC, body=body, key=idempotency_key)
        return decode(OrderCreated, answer)

    async def virtual(
        self, items: Sequence[VirtualItem], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> OrderCreated:
        """Orders virtual cards; 1 to 100 items. What they hold is taken from the partner's balance.

        `reference` is what you call the order.
        """
        body = with_reference({"data": list(items)}, reference)
        answer = await self._core.call(operations.ORDER_VIRTUAL, body=body, key=idempotency_key)
        return decode(OrderCreated, answer)

    async def status(self, order_id: Id) -> RequestStatus:
        """Reads the state of an order."""
        return decode(RequestStatus, await self._core.call(operations.ORDER_STATUS, id=order_id))

    async def wait(self, order_id: Id, *, timeout: float = 120, on_progress: Progress | None = None) -> RequestState:
        """Waits up to `timeout` seconds until an order is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self._state(order_id), timeout, on_progress)

    async def _state(self, order_id: Id) -> RequestState:
        return (await self.status(order_id)).state

    async def result(self, order_id: Id) -> OrderResult:
        """Reads the cards that an order brought. Raises `ApiError` with 404 while there is no result."""
        return decode(OrderResult, await self._core.call(operations.ORDER_RESULT, id=order_id))

    async def confirm(self, order_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Confirms the receipt of an order that is done, and so closes it."""
        answer = await self._core.call(operations.CONFIRM_ORDER, body={"orderId": order_id}, key=idempotency_key)
        return decode(RequestStatus, answer)

    async def cancel(self, order_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels an order that is still new."""
        answer = await self._core.call(operations.CANCEL_ORDER, body={"orderId": order_id}, key=idempotency_key)
        return decode(RequestStatus, answer)

    async def list(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[Order]:
        """Lists orders, those that fit, the newest first; 15 on a page by default, 500 at most.

        Both dates are inclusive, and those on which the orders were accepted.
        """
        query = list_query(status, reference, from_date, to_date, page, per_page)
        return decode_page(Order, await self._core.call(operations.LIST_ORDERS, query=query))

    def all(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[Order]:
        """All orders, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(
                status=status, reference=reference, from_date=from_date, to_date=to_date, page=page, per_page=size
            ),
            per_page,
            lambda order: order.order_id,
        )
