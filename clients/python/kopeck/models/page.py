"""Lists come in pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from kopeck.errors import DecodeError
from kopeck.wire import decode, named

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageMeta:
    """Where a page stands in its list."""

    current_page: int = named("current_page")
    """The number of this page, from 1."""
    last_page: int = named("last_page")
    """The number of the last page with records, at least 1."""
    per_page: int = named("per_page")
    """The records on a page."""
    first: int | None = named("from", default=None)
    """The number of the page's first record in the list; `None` for a page past the end."""
    last: int | None = named("to", default=None)
    """The number of the page's last record in the list; `None` for a page past the end."""
    total: int | None = None
    """How many records the list has."""
    path: str = ""
    """The path of the list."""


class Paged:
    """What stands in a list of pages."""

    __slots__ = ()
    meta: PageMeta

    @property
    def next(self) -> int | None:
        """The number of the page after this one, if there is one."""
        return self.meta.current_page + 1 if self.meta.current_page < self.meta.last_page else None


@dataclass(frozen=True, slots=True)
class Page(Paged, Generic[T]):
    """One page of a list."""

    data: tuple[T, ...]
    """The records."""
    meta: PageMeta


def decode_page(kind: type[T], value: object) -> Page[T]:
    """Reads a page of dataclasses."""
    data = decode_list(kind, value)
    meta = decode(PageMeta, value["meta"] if isinstance(value, Mapping) and "meta" in value else None, "meta")
    return Page(data, meta)


def decode_list(kind: type[T], value: object) -> tuple[T, ...]:
    """Reads the dataclasses that stand under `data`."""
    data = value.get("data") if isinstance(value, Mapping) else None
    if not isinstance(data, list):
        raise DecodeError("the answer has no list under data")
    return tuple(decode(kind, item, f"data[{place}]") for place, item in enumerate(data))
