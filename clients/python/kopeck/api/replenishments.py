"""Top-ups of cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kopeck import operations
from kopeck.core import Core, Id, pages
from kopeck.models.page import Page, decode_list, decode_page
from kopeck.models.requests import (
    Replenishment,
    ReplenishmentCreated,
    ReplenishmentResult,
    RequestStatus,
    TopUp,
)
from kopeck.wait import Progress, until_final
from kopeck.wire import decode, identifier
from kopeck.words import RequestState


class Replenishments:
    """Calls about top-ups of cards."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def create(self, cards: Sequence[TopUp], *, idempotency_key: str | None = None) -> ReplenishmentCreated:
        """Asks for top-ups of 1 to 10,000 cards, each once.

        Raises `CardsError` if some of them stand in the way; then none is topped up.
        """
        answer = self._core.call(operations.REPLENISH, body={"cards": list(cards)}, key=idempotency_key)
        return decode(ReplenishmentCreated, answer)

    def status(self, replenishment_id: Id) -> RequestStatus:
        """Reads the state of a request."""
        query = {"idReplenishment": identifier(replenishment_id)}
        return decode(RequestStatus, self._core.call(operations.REPLENISHMENT_STATUS, query=query))

    def wait(
        self, replenishment_id: Id, *, timeout: float = 120, on_progress: Progress | None = None
    ) -> RequestState:
        """Waits up to `timeout` seconds until a request is processed. Raises `UnfinishedError` if that is too short."""
        return until_final(lambda: self.status(replenishment_id).state, timeout, on_progress)

    def result(self, replenishment_id: Id) -> tuple[ReplenishmentResult, ...]:
        """Reads what became of each card. Raises `ApiError` with 409 while there is no result."""
        query = {"idReplenishment": identifier(replenishment_id)}
        return decode_list(ReplenishmentResult, self._core.call(operations.REPLENISHMENT_RESULT, query=query))

    def cancel(self, replenishment_id: Id, *, idempotency_key: str | None = None) -> RequestStatus:
        """Cancels a request that is still new."""
        answer = self._core.call(operations.CANCEL_REPLENISHMENT, id=replenishment_id, key=idempotency_key)
        return decode(RequestStatus, answer)

    def list(
        self, *, status: RequestState | None = None, page: int | None = None, per_page: int | None = None
    ) -> Page[Replenishment]:
        """Lists requests, in one state or in any, the newest first; 15 on a page by default, 500 at most."""
        query = {"status": status, "page": page, "per_page": per_page}
        return decode_page(Replenishment, self._core.call(operations.LIST_REPLENISHMENTS, query=query))

    def all(self, *, status: RequestState | None = None, per_page: int = 100) -> Iterator[Replenishment]:
        """All requests, read page by page as they are asked for."""
        return pages(lambda page: self.list(status=status, page=page, per_page=per_page))
