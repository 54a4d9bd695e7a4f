"""What calls take beside models."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Keep:
    """What an update does to a field that it does not name: nothing."""

    def __repr__(self) -> str:
        return "KEEP"


KEEP: Final = Keep()
"""Leaves a field as it is, where `None` would empty it."""


class FileFormat(Enum):
    """The form of a statement's file."""

    CSV = "text/csv"
    """The entries."""
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    """A spreadsheet of entries and totals."""


def with_reference(body: Mapping[str, object], reference: str | None) -> Mapping[str, object]:
    """The body of a new request, under its reference if it has one."""
    return body if reference is None else {**body, "reference": reference}
