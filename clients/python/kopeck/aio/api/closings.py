"""Closings of cards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.page import Page, decode_list, decode_page
from kopeck.models.requests import (
    CardClosing,
    Closing,
    ClosingCreated,
    ClosingResult,
    RequestStatus,
    list_query,
    with_reference,
)
from kopeck.aio.wait import Progress, until_final
from kopeck.wire import decode
from kopeck.words import RequestState


class Closings:
    """Calls about closings."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(
        self, cards: Sequence[CardClosing], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> ClosingCreated:
        """Asks to close 1 to 10,000 cards for good, each once. What is on them comes back to the balance.

        `reference` is what you call the closing. Raises `CardsError` if some of them prevent it; then none is closed.
        """
        body = with_reference({"data": list(cards)}, reference)
        answer = await self._core.call(operations.CREATE_CLOSING, body=body, key=idempotency_key)
        return decode(ClosingCreated, answer)

    async def status(self, closing_id: Id) -> RequestStatus:
        """Reads the state of a closing."""
        return decode(RequestStatus, await self._core.call(operations.CLOSING_STATUS, id=closing_id))

    async def wait(
        self, closing_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a closing is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self._state(closing_id), timeout, on_progress)

    async def _state(self, closing_id: Id) -> RequestState:
        return (await self.status(closing_id)).state

    async def result(self, closing_id: Id) -> tuple[ClosingResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        return decode_list(ClosingResult, await self._core.call(operations.CLOSING_RESULT, id=closing_id))

    async def cancel(self, closing_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a closing that is still new; one of lost and stolen cards alone cannot be cancelled."""
        answer = await self._core.call(operations.CANCEL_CLOSING, id=closing_id, key=idempotency_key)
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
    ) -> Page[Closing]:
        """Lists closings, those that fit, the newest first; 15 on a page by default, 500 at most.

        Both dates are inclusive, and those on which the closings were accepted.
        """
        query = list_query(status, reference, from_date, to_date, page, per_page)
        return decode_page(Closing, await self._core.call(operations.LIST_CLOSINGS, query=query))

    def all(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[Closing]:
        """All closings, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(
                status=status, reference=reference, from_date=from_date, to_date=to_date, page=page, per_page=size
            ),
            per_page,
            lambda request: request.closing_id,
        )
