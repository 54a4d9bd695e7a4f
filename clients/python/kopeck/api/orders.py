"""Orders of cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kopeck import operations
from kopeck.core import Core, Id, pages
from kopeck.models.page import Page, decode_page
from kopeck.models.requests import Order, OrderCreated, OrderResult, PlasticItem, RequestStatus, VirtualItem
from kopeck.wait import Progress, until_final
from kopeck.wire import decode
from kopeck.words import RequestState


class Orders:
    """Calls about orders of cards."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def plastic(self, items: Sequence[PlasticItem], *, idempotency_key: str | None = None) -> OrderCreated:
        """Orders plastic cards; 1 to 100 items."""
        answer = self._core.call(operations.ORDER_PLASTIC, body={"data": list(items)}, key=idempotency_key)
        return decode(OrderCreated, answer)

    def virtual(self, items: Sequence[VirtualItem], *, idempotency_key: str | None = None) -> OrderCreated:
        """Orders virtual cards; 1 to 100 items. What they hold is taken from the partner's balance."""
        answer = self._core.call(operations.ORDER_VIRTUAL, body={"data": list(items)}, key=idempotency_key)
        return decode(OrderCreated, answer)

    def status(self, order_id: Id) -> RequestStatus:
        """Reads the state of an order."""
        return decode(RequestStatus, self._core.call(operations.ORDER_STATUS, id=order_id))

    def wait(self, order_id: Id, *, timeout: float = 120, on_progress: Progress | None = None) -> RequestState:
        """Waits up to `timeout` seconds until an order is processed. Raises `UnfinishedError` if that is too short."""
        return until_final(lambda: self.status(order_id).state, timeout, on_progress)

    def result(self, order_id: Id) -> OrderResult:
        """Reads the cards that an order brought. Raises `ApiError` with 404 while there is no result."""
        return decode(OrderResult, self._core.call(operations.ORDER_RESULT, id=order_id))

    def confirm(self, order_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Confirms the receipt of an order that is done, and so closes it."""
        answer = self._core.call(operations.CONFIRM_ORDER, body={"orderId": order_id}, key=idempotency_key)
        return decode(RequestStatus, answer)

    def cancel(self, order_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels an order that is still new."""
        answer = self._core.call(operations.CANCEL_ORDER, body={"orderId": order_id}, key=idempotency_key)
        return decode(RequestStatus, answer)

    def list(
        self, *, status: RequestState | None = None, page: int | None = None, per_page: int | None = None
    ) -> Page[Order]:
        """Lists orders, in one state or in any, the newest first; 15 on a page by default, 500 at most."""
        query = {"status": status, "page": page, "per_page": per_page}
        return decode_page(Order, self._core.call(operations.LIST_ORDERS, query=query))

    def all(self, *, status: RequestState | None = None, per_page: int = 100) -> Iterator[Order]:
        """All orders, read page by page as they are asked for."""
        return pages(lambda page: self.list(status=status, page=page, per_page=per_page))
