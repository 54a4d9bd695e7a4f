"""Top-ups of cards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.page import Page, decode_list, decode_page
from kopeck.models.requests import (
    Replenishment,
    ReplenishmentCreated,
    ReplenishmentResult,
    RequestStatus,
    TopUp,
    list_query,
    with_reference,
)
from kopeck.aio.wait import Progress, until_final
from kopeck.wire import decode, identifier
from kopeck.words import RequestState


class Replenishments:
    """Calls about top-ups of cards."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(
        self, cards: Sequence[TopUp], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> ReplenishmentCreated:
        """Asks for top-ups of 1 to 10,000 cards, each once. `reference` is what you call the request.

        Raises `CardsError` if some of them prevent it; then none is topped up.
        """
        body = with_reference({"cards": list(cards)}, reference)
        answer = await self._core.call(operations.REPLENISH, body=body, key=idempotency_key)
        return decode(ReplenishmentCreated, answer)

    async def status(self, replenishment_id: Id) -> RequestStatus:
        """Reads the state of a request."""
        query = {"idReplenishment": identifier("replenishment_id", replenishment_id)}
        return decode(RequestStatus, await self._core.call(operations.REPLENISHMENT_STATUS, query=query))

    async def wait(
        self, replenishment_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a request is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self._state(replenishment_id), timeout, on_progress)

    async def _state(self, replenishment_id: Id) -> RequestState:
        return (await self.status(replenishment_id)).state

    async def result(self, replenishment_id: Id) -> tuple[ReplenishmentResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        query = {"idReplenishment": identifier("replenishment_id", replenishment_id)}
        return decode_list(ReplenishmentResult, await self._core.call(operations.REPLENISHMENT_RESULT, query=query))

    async def cancel(self, replenishment_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a request that is still new."""
        answer = await self._core.call(operations.CANCEL_REPLENISHMENT, id=replenishment_id, key=idempotency_key)
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
    ) -> Page[Replenishment]:
        """Lists requests, those that fit, the newest first; 15 on a page by default, 500 at most.

        Both dates are inclusive, and those on which the requests were accepted.
        """
        query = list_query(status, reference, from_date, to_date, page, per_page)
        return decode_page(Replenishment, await self._core.call(operations.LIST_REPLENISHMENTS, query=query))

    def all(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[Replenishment]:
        """All requests, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(
                status=status, reference=reference, from_date=from_date, to_date=to_date, page=page, per_page=size
            ),
            per_page,
            lambda request: request.replenishment_id,
        )
