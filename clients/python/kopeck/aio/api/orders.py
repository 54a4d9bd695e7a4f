"""Orders of cards."""

from __future__ import annotations

from collections.abc import Sequence

from kopeck import operations
from kopeck.aio.api.requests import Requests
from kopeck.aio.wait import Progress, until_final
from kopeck.call import Id
from kopeck.models.generated import Order, OrderCreated, OrderResult, PlasticItem, RequestStatus, VirtualItem
from kopeck.parameters import with_reference
from kopeck.wire import decode
from kopeck.words import RequestState


class Orders(Requests[Order]):
    """Calls about orders of cards."""

    _record = Order
    _id = "order_id"
    _list = operations.ORDER_LIST

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
        return await until_final(lambda: self.status(order_id), timeout, on_progress)

    async def result(self, order_id: Id) -> OrderResult:
        """Reads the cards that an order brought. Raises `ApiError` with 404 while there is no result."""
        return decode(OrderResult, await self._core.call(operations.ORDER_RESULT, id=order_id))

    async def confirm(self, order_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Confirms the receipt of an order that is done, and so closes it."""
        answer = await self._core.call(operations.ORDER_CONFIRM, body={"orderId": order_id}, key=idempotency_key)
        return decode(RequestStatus, answer)

    async def cancel(self, order_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels an order that is still new."""
        answer = await self._core.call(operations.ORDER_CANCEL, body={"orderId": order_id}, key=idempotency_key)
        return decode(RequestStatus, answer)
