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
    """The form of a file: of a statement, a report, or the result of a run."""

    CSV = "text/csv"
    """Rows, in kopecks, for programs."""
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    """A spreadsheet of rows and totals, in roubles, for people."""
    EXCEL_CSV = "text/csv; profile=excel"
    """Rows that a spreadsheet program takes apart by itself, in roubles, for people."""
    ONE_C = "text/plain; profile=1c"
    """1CClientBankExchange in Windows-1251, of a statement alone."""
    CAMT = "application/xml; profile=camt.053"
    """ISO 20022 camt.053.001.08, of a statement alone."""


def with_reference(body: Mapping[str, object], reference: str | None) -> Mapping[str, object]:
    """The body of a new request, under its reference if it has one."""
    return body if reference is None else {**body, "reference": reference}
