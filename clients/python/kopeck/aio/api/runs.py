"""Runs: lists of changes for many people, checked and shown before anything happens."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date, datetime
from operator import attrgetter

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.errors import ConfigError
from kopeck.models.generated import Run, RunItem
from kopeck.models.page import Page, decode_list, decode_page
from kopeck.parameters import FileFormat
from kopeck.wire import decode
from kopeck.words import RunKind, RunOutcome, RunState


class Runs:
    """Calls about runs."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(
        self,
        kind: RunKind,
        items: Sequence[Mapping[str, object]],
        *,
        reference: str | None = None,
        at: datetime | None = None,
        create_categories: bool = False,
        idempotency_key: str | None = None,
    ) -> Run:
        """Creates a run of 1 to 10,000 items, and returns what it would come to. Nothing happens before it is submitted.

        An item is a mapping with the fields of the API: `{"customId": "T-1", "amount": 500000}`. `reference` is what you call
        the run; no other run of its kind has it, unless that run came to nothing.
        """
        body: dict[str, object] = {"kind": kind, "items": [dict(item) for item in items]}
        if reference is not None:
            body["reference"] = reference
        if at is not None:
            body["at"] = at
        if create_categories:
            body["createCategories"] = True
        return decode(Run, await self._core.call(operations.RUN_CREATE, body=body, key=idempotency_key))

    async def create_from_file(
        self,
        kind: RunKind,
        file: bytes,
        *,
        reference: str | None = None,
        at: datetime | None = None,
        create_categories: bool = False,
        idempotency_key: str | None = None,
    ) -> Run:
        """Creates a run of the rows of a file: CSV in UTF-8, UTF-16 or Windows-1251, or an XLSX workbook.

        Its first row names the columns, such as `customId` and `amount`. See `create` for the rest; a run of `LIMIT` has no file.
        """
        body: dict[str, object] = {"kind": kind, "file": b64encode(file).decode("ascii")}
        if reference is not None:
            body["reference"] = reference
        if at is not None:
            body["at"] = at
        if create_categories:
            body["createCategories"] = True
        return decode(Run, await self._core.call(operations.RUN_CREATE, body=body, key=idempotency_key))

    async def get(self, id_run: Id) -> Run:
        """The run with this identifier."""
        return decode(Run, await self._core.call(operations.RUN_GET, id=id_run))

    async def items(
        self,
        id_run: Id,
        *,
        faulty: bool | None = None,
        outcome: RunOutcome | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[RunItem]:
        """Lists the items of a run, in their order."""
        query = {"faulty": None if faulty is None else str(faulty).lower(), "outcome": outcome, "page": page, "per_page": per_page}
        return decode_page(RunItem, await self._core.call(operations.RUN_ITEMS, id=id_run, query=query))

    async def submit(
        self, id_run: Id, digest: str, *, skip_faulty: bool = False, idempotency_key: str | None = None
    ) -> Run:
        """Submits a run as its digest names it. Items with a fault prevent that, unless they are skipped."""
        body = {"digest": digest, "skipFaulty": skip_faulty}
        return decode(Run, await self._core.call(operations.RUN_SUBMIT, id=id_run, body=body, key=idempotency_key))

    async def approve(self, id_run: Id, digest: str, *, idempotency_key: str | None = None) -> Run:
        """Approves a run that another has submitted, as its digest names it."""
        body = {"digest": digest}
        return decode(Run, await self._core.call(operations.RUN_APPROVE, id=id_run, body=body, key=idempotency_key))

    async def refuse(
        self, id_run: Id, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> Run:
        """Refuses to approve a run."""
        body = {} if reason is None else {"reason": reason}
        return decode(Run, await self._core.call(operations.RUN_REFUSE, id=id_run, body=body, key=idempotency_key))

    async def cancel(self, id_run: Id, *, idempotency_key: str | None = None) -> Run:
        """Cancels a run that has not begun."""
        return decode(Run, await self._core.call(operations.RUN_CANCEL, id=id_run, key=idempotency_key))

    async def result(self, id_run: Id) -> tuple[RunItem, ...]:
        """What became of each item, in their order."""
        return decode_list(RunItem, await self._core.call(operations.RUN_RESULT, id=id_run))

    async def result_file(self, id_run: Id, format: FileFormat) -> bytes:
        """What became of each item, as `FileFormat.CSV` or `FileFormat.XLSX`. It is not sealed, even if the client seals.

        It has the columns that the run was made of, under their own names, then `outcome` and `reason`.
        """
        if format not in (FileFormat.CSV, FileFormat.XLSX):
            raise ConfigError("the result of a run is CSV or XLSX")
        answer = await self._core.call(operations.RUN_RESULT, id=id_run, accept=format.value)
        return answer if isinstance(answer, bytes) else b""

    async def list(
        self,
        *,
        kind: RunKind | None = None,
        status: RunState | None = None,
        reference: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[Run]:
        """Lists runs, newest first."""
        query = {
            "kind": kind,
            "status": status,
            "reference": reference,
            "from": from_date,
            "to": to_date,
            "page": page,
            "per_page": per_page,
        }
        return decode_page(Run, await self._core.call(operations.RUN_LIST, query=query))

    def all(
        self, *, kind: RunKind | None = None, status: RunState | None = None, per_page: int = 100
    ) -> AsyncIterator[Run]:
        """All runs that fit, newest first, read page by page as they are asked for."""
        return pages(
            lambda page, size: self.list(kind=kind, status=status, page=page, per_page=size),
            per_page,
            attrgetter("id_run"),
        )
