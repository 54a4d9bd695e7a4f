"""What moved on the partner's balance and on its cards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.page import Page
from kopeck.models.generated import (
    BalanceEntries,
    BalanceEntry,
    PartnerTransaction,
    Report,
    ReportClosed,
    Statement,
    TransactionFeed,
)
from kopeck.parameters import FileFormat
from kopeck.wire import decode, identifier
from kopeck.words import EntryType, TransactionType


class Statements:
    """Calls about entries of the balance and transactions of all cards."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def entries(
        self,
        *,
        from_date: date | None = None,
        to_date: date | None = None,
        entry_type: EntryType | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> BalanceEntries:
        """Lists the entries of the balance, the oldest first; 15 on a page by default, 500 at most.

        Both dates are inclusive. The balances at the ends of the period do not depend on the type.
        """
        query = {"from": from_date, "to": to_date, "type": entry_type, "page": page, "per_page": per_page}
        return decode(BalanceEntries, await self._core.call(operations.BALANCE_ENTRIES, query=query))

    def all_entries(
        self,
        *,
        from_date: date | None = None,
        to_date: date | None = None,
        entry_type: EntryType | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[BalanceEntry]:
        """All entries of the balance that fit, read page by page as they are asked for."""
        return pages(
            lambda page, size: self._entries(from_date, to_date, entry_type, page, size),
            per_page,
            lambda entry: entry.seq,
        )

    async def _entries(
        self, from_date: date | None, to_date: date | None, entry_type: EntryType | None, page: int, size: int
    ) -> Page[BalanceEntry]:
        listed = await self.entries(
            from_date=from_date, to_date=to_date, entry_type=entry_type, page=page, per_page=size
        )
        return Page(listed.data, listed.meta)

    async def month(self, month: str) -> Statement:
        """Reads what moved on the balance in a month, such as `2026-01`."""
        return decode(Statement, await self._core.call(operations.STATEMENT, month=month))

    async def file(self, month: str, format: FileFormat, *, lang: str | None = None) -> bytes:
        """Reads a month as a file. It is not sealed, even if the client seals.

        `lang` is the language of a file for people: `en`, which is the default, or `ru`.
        """
        query = {"lang": lang}
        answer = await self._core.call(operations.STATEMENT, month=month, query=query, accept=format.value)
        return answer if isinstance(answer, bytes) else b""

    async def report(self, month: str, *, id_category: Id | None = None, id_programme: Id | None = None) -> Report:
        """Reads what moved on the cards of each employee in a month.

        With `id_programme` of those whom its runs gave something, and `given` is only that.
        """
        query = _of_people(id_category, id_programme)
        return decode(Report, await self._core.call(operations.REPORT_EMPLOYEES, month=month, query=query))

    async def report_file(
        self,
        month: str,
        format: FileFormat,
        *,
        id_category: Id | None = None,
        id_programme: Id | None = None,
        lang: str | None = None,
    ) -> bytes:
        """Reads the report of a month as a file, in the language `lang` if it is for people: `en` or `ru`."""
        query = {**_of_people(id_category, id_programme), "lang": lang}
        answer = await self._core.call(
            operations.REPORT_EMPLOYEES, month=month, query=query, accept=format.value
        )
        return answer if isinstance(answer, bytes) else b""

    async def close_report(self, month: str, *, idempotency_key: str | None = None) -> ReportClosed:
        """Closes a month that is over: its report no longer changes."""
        return decode(ReportClosed, await self._core.call(operations.REPORT_CLOSE, month=month, body={}, key=idempotency_key))

    async def transactions(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        transaction_type: TransactionType | None = None,
        id_card: Id | None = None,
        id_employee: Id | None = None,
    ) -> TransactionFeed:
        """Reads transactions of all cards, in the order in which the service received them; 100 by default, 1,000 at most.

        Both dates are inclusive, and those of execution.
        """
        query = {
            "after": after,
            "limit": limit,
            "from": from_date,
            "to": to_date,
            "type": transaction_type,
            "idCard": None if id_card is None else identifier("id_card", id_card),
            "idEmployee": None if id_employee is None else identifier("id_employee", id_employee),
        }
        return decode(TransactionFeed, await self._core.call(operations.TRANSACTION_FEED, query=query))

    async def all_transactions(
        self,
        *,
        after: int = 0,
        from_date: date | None = None,
        to_date: date | None = None,
        transaction_type: TransactionType | None = None,
        id_card: Id | None = None,
        id_employee: Id | None = None,
    ) -> AsyncIterator[PartnerTransaction]:
        """The transactions of all cards behind a number that fit, until there are no more."""
        while True:
            feed = await self.transactions(
                after=after,
                limit=1_000,
                from_date=from_date,
                to_date=to_date,
                transaction_type=transaction_type,
                id_card=id_card,
                id_employee=id_employee,
            )
            if not feed.data:
                return
            after = feed.next
            for transaction in feed.data:
                yield transaction


def _of_people(id_category: Id | None, id_programme: Id | None) -> dict[str, object]:
    """Whom a report has, as parameters."""
    return {
        "idCategory": None if id_category is None else identifier("id_category", id_category),
        "idProgramme": None if id_programme is None else identifier("id_programme", id_programme),
    }
