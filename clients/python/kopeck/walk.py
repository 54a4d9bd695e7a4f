"""A walk through a list that changes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from kopeck.models.page import Page

T = TypeVar("T")

_LEAST_SIZE = 20
"""Below it there are too few sizes of pages for an overlap at each place."""


class Walk(Generic[T]):
    """Which page to read next, and which of its records are new.

    Pages are numbered, so a record that comes to the list or leaves it shifts those behind it. Each page therefore
    overlaps what was read before: its size is chosen so that it begins with few records that were read, and the walk
    goes on behind the last of these. If none of them is there, the records have shifted forward, and the walk goes
    back. As the order of a list never changes, a record that stays in the list comes exactly once.
    """

    def __init__(self, per_page: int, identify: Callable[[T], Hashable]) -> None:
        self._most = max(per_page, _LEAST_SIZE)
        self._identify = identify
        self._seen: set[Hashable] = set()
        self._place = 0
        """How many records of the list are behind."""
        self.ended = False

    def next_page(self) -> tuple[int, int]:
        """Number and size of the page to read."""
        if self._place == 0:
            return 1, self._most
        last_read = self._place - 1
        sizes = range(self._most, self._most // 2, -1)
        size = min(sizes, key=lambda size: last_read % size)
        return last_read // size + 1, size

    def take(self, page: Page[T]) -> tuple[T, ...]:
        """The new records of the page that was read."""
        first = (page.meta.current_page - 1) * page.meta.per_page
        seen = [place for place, record in enumerate(page.data) if self._identify(record) in self._seen]
        if first > 0 and not seen:
            # By half a page, unless the list ends before that.
            total = first if page.meta.total is None else page.meta.total
            self._place = max(0, min(first, total) - self._most // 2)
            return ()
        new = page.data[seen[-1] + 1 :] if seen else page.data
        self._seen.update(map(self._identify, new))
        self._place = first + len(page.data)
        self.ended = page.next is None
        return new
