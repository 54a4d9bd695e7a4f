"""Closings of cards."""

from __future__ import annotations

from collections.abc import Sequence

from kopeck import operations
from kopeck.aio.api.requests import Requests
from kopeck.aio.wait import Progress, until_final
from kopeck.call import Id
from kopeck.models.page import decode_list
from kopeck.models.generated import CardClosing, Closing, ClosingCreated, ClosingResult, RequestStatus
from kopeck.parameters import with_reference
from kopeck.wire import decode
from kopeck.words import RequestState


class Closings(Requests[Closing]):
    """Calls about closings."""

    _record = Closing
    _id = "closing_id"
    _list = operations.CLOSING_LIST

    async def create(
        self, cards: Sequence[CardClosing], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> ClosingCreated:
        """Asks to close 1 to 10,000 cards for good, each once. What is on them comes back to the balance.

        `reference` is what you call the closing. Raises `CardsError` if some of them prevent it; then none is closed.
        """
        body = with_reference({"data": list(cards)}, reference)
        answer = await self._core.call(operations.CLOSING_CREATE, body=body, key=idempotency_key)
        return decode(ClosingCreated, answer)

    async def status(self, closing_id: Id) -> RequestStatus:
        """Reads the state of a closing."""
        return decode(RequestStatus, await self._core.call(operations.CLOSING_STATUS, id=closing_id))

    async def wait(
        self, closing_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a closing is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self.status(closing_id), timeout, on_progress)

    async def result(self, closing_id: Id) -> tuple[ClosingResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        return decode_list(ClosingResult, await self._core.call(operations.CLOSING_RESULT, id=closing_id))

    async def cancel(self, closing_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a closing that is still new; one of lost and stolen cards alone cannot be cancelled."""
        answer = await self._core.call(operations.CLOSING_CANCEL, id=closing_id, key=idempotency_key)
        return decode(RequestStatus, answer)
