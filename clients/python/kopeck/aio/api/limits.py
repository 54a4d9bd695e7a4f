"""Changes of cards' limits."""

from __future__ import annotations

from collections.abc import Sequence

from kopeck import operations
from kopeck.aio.api.requests import Requests
from kopeck.aio.wait import Progress, until_final
from kopeck.call import Id
from kopeck.models.generated import CardLimit, CardRef
from kopeck.models.page import decode_list
from kopeck.models.generated import LimitChange, LimitChangeCreated, LimitResult, RequestStatus
from kopeck.parameters import with_reference
from kopeck.wire import decode
from kopeck.words import RequestState


class Limits(Requests[LimitChange]):
    """Calls about changes of cards' limits."""

    _record = LimitChange
    _id = "set_limits_cards_id"
    _list = operations.LIMITS_LIST

    async def set(
        self,
        cards: Sequence[Id | CardRef],
        limit: CardLimit,
        *,
        reference: str | None = None,
        idempotency_key: str | None = None,
    ) -> LimitChangeCreated:
        """Asks to give the same limit to 1 to 10,000 cards, each named once, in place of the whole limit they had.

        `reference` is what you call the change. Raises `CardsError` if some cards prevent it, `ApiError` with 409 if
        the limit contradicts itself.
        """
        data = [card if isinstance(card, CardRef) else CardRef(card) for card in cards]
        body = with_reference({"data": data, "limit": limit}, reference)
        return decode(LimitChangeCreated, await self._core.call(operations.LIMITS_SET, body=body, key=idempotency_key))

    async def status(self, set_limits_cards_id: Id) -> RequestStatus:
        """Reads the state of a change."""
        body = {"setLimitsCardsId": set_limits_cards_id}
        return decode(RequestStatus, await self._core.call(operations.LIMITS_STATUS, body=body))

    async def wait(
        self, set_limits_cards_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a change is processed. Raises `UnfinishedError` if that is too short."""
        return await until_final(lambda: self.status(set_limits_cards_id), timeout, on_progress)

    async def result(self, set_limits_cards_id: Id) -> tuple[LimitResult, ...]:
        """Reads the result of each card. Raises `ApiError` with 409 while there is no result."""
        return decode_list(LimitResult, await self._core.call(operations.LIMITS_RESULT, id=set_limits_cards_id))

    async def cancel(self, set_limits_cards_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a change that is still new."""
        body = {"setLimitsCardsId": set_limits_cards_id}
        return decode(RequestStatus, await self._core.call(operations.LIMITS_CANCEL, body=body, key=idempotency_key))
