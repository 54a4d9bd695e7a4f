"""Changes of cards' limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.card import CardLimit
from kopeck.models.page import Page, decode_list, decode_page
from kopeck.models.requests import (
    LimitChange,
    LimitChangeCreated,
    LimitResult,
    RequestStatus,
    list_query,
    with_reference,
)
from kopeck.aio.wait import Progress, until_final
from kopeck.wire import decode
from kopeck.words import RequestState


class Limits:
    """Calls about changes of cards' limits."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def set(
        self,
        cards: Sequence[Id],
        limit: CardLimit,
        *,
        reference: str | None = None,
        idempotency_key: str | None = None,
    ) -> LimitChangeCreated:
        """Asks to give the same limit to 1 to 10,000 cards, each named once, in place of the whole limit they had.

        `reference` is what you call the change. Raises `CardsError` if some cards prevent it, `ApiError` with 409 if
        the limit contradicts itself.
        """
        body = with_reference({"data": [{"idCard": card} for card in cards], "limit": limit}, reference)
        return decode(LimitChangeCreated, await self._core.call(operations.SET_LIMITS, body=body, key=idempotency_key))

    async def status(self, set_limits_cards_id: Id) -> RequestStatus:
        """Reads the state of a change."""
        body = {"setLimitsCardsId": set_limits_cards_id}
        return decode(RequestStatus, await self._core.call(operations.LIMITS_STATUS, body=body))

    async def wait(
        self, set_limits_cards_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a change is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self._state(set_limits_cards_id), timeout, on_progress)

    async def _state(self, set_limits_cards_id: Id) -> RequestState:
        return (await self.status(set_limits_cards_id)).state

    async def result(self, set_limits_cards_id: Id) -> tuple[LimitResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        return decode_list(LimitResult, await self._core.call(operations.LIMITS_RESULT, id=set_limits_cards_id))

    async def cancel(self, set_limits_cards_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a change that is still new."""
        body = {"setLimitsCardsId": set_limits_cards_id}
        return decode(RequestStatus, await self._core.call(operations.CANCEL_LIMITS, body=body, key=idempotency_key))

    async def list(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[LimitChange]:
        """Lists changes, those that fit, the newest first; 15 on a page by default, 500 at most.

        Both dates are inclusive, and those on which the changes were accepted.
        """
        query = list_query(status, reference, from_date, to_date, page, per_page)
        return decode_page(LimitChange, await self._core.call(operations.LIST_LIMITS, query=query))

    def all(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[LimitChange]:
        """All changes, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(
                status=status, reference=reference, from_date=from_date, to_date=to_date, page=page, per_page=size
            ),
            per_page,
            lambda change: change.set_limits_cards_id,
        )
