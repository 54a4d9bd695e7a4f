"""Top-ups of cards."""

from __future__ import annotations

from collections.abc import Sequence

from kopeck import operations
from kopeck.aio.api.requests import Requests
from kopeck.aio.wait import Progress, until_final
from kopeck.call import Id
from kopeck.models.page import decode_list
from kopeck.models.generated import Replenishment, ReplenishmentCreated, ReplenishmentResult, RequestStatus, TopUp
from kopeck.parameters import with_reference
from kopeck.wire import decode, identifier
from kopeck.words import RequestState


class Replenishments(Requests[Replenishment]):
    """Calls about top-ups of cards."""

    _record = Replenishment
    _id = "replenishment_id"
    _list = operations.REPLENISHMENT_LIST

    async def create(
        self, cards: Sequence[TopUp], *, reference: str | None = None, idempotency_key: str | None = None
    ) -> ReplenishmentCreated:
        """Asks for top-ups of 1 to 10,000 cards, each once. `reference` is what you call the request.

        Raises `CardsError` if some of them prevent it; then none is topped up.
        """
        body = with_reference({"cards": list(cards)}, reference)
        answer = await self._core.call(operations.REPLENISHMENT_CREATE, body=body, key=idempotency_key)
        return decode(ReplenishmentCreated, answer)

    async def status(self, replenishment_id: Id) -> RequestStatus:
        """Reads the state of a request."""
        query = {"idReplenishment": identifier("replenishment_id", replenishment_id)}
        return decode(RequestStatus, await self._core.call(operations.REPLENISHMENT_STATUS, query=query))

    async def wait(
        self, replenishment_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a request is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self.status(replenishment_id), timeout, on_progress)

    async def result(self, replenishment_id: Id) -> tuple[ReplenishmentResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        query = {"idReplenishment": identifier("replenishment_id", replenishment_id)}
        return decode_list(ReplenishmentResult, await self._core.call(operations.REPLENISHMENT_RESULT, query=query))

    async def cancel(self, replenishment_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a request that is still new."""
        answer = await self._core.call(operations.REPLENISHMENT_CANCEL, id=replenishment_id, key=idempotency_key)
        return decode(RequestStatus, answer)
