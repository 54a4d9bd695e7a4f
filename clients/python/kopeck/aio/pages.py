"""The records of a whole list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from typing import TypeVar

from kopeck.models.page import Page
from kopeck.walk import Walk

T = TypeVar("T")


async def pages(
    read: Callable[[int, int], Awaitable[Page[T]]], per_page: int, identify: Callable[[T], Hashable]
) -> AsyncIterator[T]:
    """The records of a list, read page by page as they are asked for: `read` takes number and size of a page."""
    walk = Walk(per_page, identify)
    while not walk.ended:
        number, size = walk.next_page()
        for record in walk.take(await read(number, size)):
            yield record
