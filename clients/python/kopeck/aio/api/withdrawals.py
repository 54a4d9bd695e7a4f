"""Withdrawals: money back from cards."""

from __future__ import annotations

from collections.abc import Sequence

from kopeck import operations
from kopeck.aio.api.requests import Requests
from kopeck.aio.wait import Progress, until_final
from kopeck.call import Id
from kopeck.models.page import decode_list
from kopeck.models.generated import CardWithdrawal, RequestStatus, Withdrawal, WithdrawalCreated, WithdrawalResult
from kopeck.parameters import with_reference
from kopeck.wire import decode
from kopeck.words import RequestState


class Withdrawals(Requests[Withdrawal]):
    """Calls about withdrawals."""

    _record = Withdrawal
    _id = "withdrawal_id"
    _list = operations.WITHDRAWAL_LIST

    async def create(
        self, cards: Sequence[CardWithdrawal], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> WithdrawalCreated:
        """Asks for money back from 1 to 10,000 cards, each once.

        `reference` is what you call the withdrawal. Raises `CardsError` if some of them prevent it; then nothing is taken.
        """
        body = with_reference({"data": list(cards)}, reference)
        answer = await self._core.call(operations.WITHDRAWAL_CREATE, body=body, key=idempotency_key)
        return decode(WithdrawalCreated, answer)

    async def status(self, withdrawal_id: Id) -> RequestStatus:
        """Reads the state of a withdrawal."""
        return decode(RequestStatus, await self._core.call(operations.WITHDRAWAL_STATUS, id=withdrawal_id))

    async def wait(
        self, withdrawal_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a withdrawal is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self.status(withdrawal_id), timeout, on_progress)

    async def result(self, withdrawal_id: Id) -> tuple[WithdrawalResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        return decode_list(WithdrawalResult, await self._core.call(operations.WITHDRAWAL_RESULT, id=withdrawal_id))

    async def cancel(self, withdrawal_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a withdrawal that is still new."""
        answer = await self._core.call(operations.WITHDRAWAL_CANCEL, id=withdrawal_id, key=idempotency_key)
        return decode(RequestStatus, answer)
