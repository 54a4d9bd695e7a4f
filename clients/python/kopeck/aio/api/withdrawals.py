"""Withdrawals: money back from cards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import date

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.page import Page, decode_list, decode_page
from kopeck.models.requests import (
    CardWithdrawal,
    RequestStatus,
    Withdrawal,
    WithdrawalCreated,
    WithdrawalResult,
    list_query,
    with_reference,
)
from kopeck.aio.wait import Progress, until_final
from kopeck.wire import decode
from kopeck.words import RequestState


class Withdrawals:
    """Calls about withdrawals."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(
        self, cards: Sequence[CardWithdrawal], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> WithdrawalCreated:
        """Asks for money back from 1 to 10,000 cards, each once.

        `reference` is what you call the withdrawal. Raises `CardsError` if some of them prevent it; then nothing is taken.
        """
        body = with_reference({"data": list(cards)}, reference)
        answer = await self._core.call(operations.CREATE_WITHDRAWAL, body=body, key=idempotency_key)
        return decode(WithdrawalCreated, answer)

    async def status(self, withdrawal_id: Id) -> RequestStatus:
        """Reads the state of a withdrawal."""
        return decode(RequestStatus, await self._core.call(operations.WITHDRAWAL_STATUS, id=withdrawal_id))

    async def wait(
        self, withdrawal_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a withdrawal is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self._state(withdrawal_id), timeout, on_progress)

    async def _state(self, withdrawal_id: Id) -> RequestState:
        return (await self.status(withdrawal_id)).state

    async def result(self, withdrawal_id: Id) -> tuple[WithdrawalResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        return decode_list(WithdrawalResult, await self._core.call(operations.WITHDRAWAL_RESULT, id=withdrawal_id))

    async def cancel(self, withdrawal_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a withdrawal that is still new."""
        answer = await self._core.call(operations.CANCEL_WITHDRAWAL, id=withdrawal_id, key=idempotency_key)
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
    ) -> Page[Withdrawal]:
        """Lists withdrawals, those that fit, the newest first; 15 on a page by default, 500 at most.

        Both dates are inclusive, and those on which the withdrawals were accepted.
        """
        query = list_query(status, reference, from_date, to_date, page, per_page)
        return decode_page(Withdrawal, await self._core.call(operations.LIST_WITHDRAWALS, query=query))

    def all(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[Withdrawal]:
        """All withdrawals, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(
                status=status, reference=reference, from_date=from_date, to_date=to_date, page=page, per_page=size
            ),
            per_page,
            lambda request: request.withdrawal_id,
        )
