"""What orders and card batches have in common."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from operator import attrgetter
from typing import ClassVar, Generic, TypeVar

from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.models.page import Page, decode_page
from kopeck.operation import Operation
from kopeck.words import RequestState

R = TypeVar("R")


class Requests(Generic[R]):
    """Calls about requests of one kind."""

    _record: type[R]
    """One in the list of them."""
    _id: ClassVar[str]
    """The attribute that identifies it."""
    _list: ClassVar[Operation]

    def __init__(self, core: Core) -> None:
        self._core = core

    async def list(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[R]:
        """Lists requests, those that fit, the newest first; 15 on a page by default, 500 at most.

        Both dates are inclusive, and those on which the requests were accepted.
        """
        days = {"from": from_date, "to": to_date}
        query = {"status": status, "reference": reference, **days, "page": page, "per_page": per_page}
        return decode_page(self._record, await self._core.call(self._list, query=query))

    def all(
        self,
        *,
        status: RequestState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[R]:
        """All requests, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(
                status=status, reference=reference, from_date=from_date, to_date=to_date, page=page, per_page=size
            ),
            per_page,
            attrgetter(self._id),
        )
