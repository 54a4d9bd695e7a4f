"""Programmes: rules that make a run for each period."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import date
from operator import attrgetter

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.generated import Programme, ProgrammeForecast, Run
from kopeck.models.page import Page, decode_list, decode_page
from kopeck.wire import decode


class Programmes:
    """Calls about programmes."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(self, terms: Mapping[str, object], *, idempotency_key: str | None = None) -> Programme:
        """Creates a programme.

        `terms` is a mapping with the fields of the API:
        `{"name": "Meals", "for": {"all": True}, "amount": {"upTo": 500000}, "every": "MONTH", "day": 5}`.
        """
        return decode(
            Programme, await self._core.call(operations.PROGRAMME_CREATE, body=dict(terms), key=idempotency_key)
        )

    async def list(self, *, page: int | None = None, per_page: int | None = None) -> Page[Programme]:
        """Lists programmes, oldest first."""
        query = {"page": page, "per_page": per_page}
        return decode_page(Programme, await self._core.call(operations.PROGRAMME_LIST, query=query))

    def all(self, *, per_page: int = 100) -> AsyncIterator[Programme]:
        """All programmes, oldest first, read page by page as they are asked for."""
        return pages(
            lambda page, size: self.list(page=page, per_page=size), per_page, attrgetter("id_programme")
        )

    async def get(self, id_programme: Id) -> Programme:
        """The programme with this identifier."""
        return decode(Programme, await self._core.call(operations.PROGRAMME_GET, id=id_programme))

    async def change(
        self, id_programme: Id, terms: Mapping[str, object], *, idempotency_key: str | None = None
    ) -> Programme:
        """Gives a programme other terms, for the periods that have no run yet."""
        body = dict(terms)
        return decode(
            Programme,
            await self._core.call(operations.PROGRAMME_CHANGE, id=id_programme, body=body, key=idempotency_key),
        )

    async def delete(self, id_programme: Id, *, idempotency_key: str | None = None) -> Programme:
        """Deletes a programme. Its runs stay."""
        return decode(
            Programme, await self._core.call(operations.PROGRAMME_DELETE, id=id_programme, key=idempotency_key)
        )

    async def pause(self, id_programme: Id, *, idempotency_key: str | None = None) -> Programme:
        """Pauses a programme: it makes no run until it is resumed."""
        return decode(
            Programme, await self._core.call(operations.PROGRAMME_PAUSE, id=id_programme, key=idempotency_key)
        )

    async def resume(self, id_programme: Id, *, idempotency_key: str | None = None) -> Programme:
        """Resumes a programme. What was due meanwhile is not made up for."""
        return decode(
            Programme, await self._core.call(operations.PROGRAMME_RESUME, id=id_programme, key=idempotency_key)
        )

    async def approve(self, id_programme: Id, *, idempotency_key: str | None = None) -> Programme:
        """Approves a programme that another has created, or the change of it that waits."""
        return decode(
            Programme,
            await self._core.call(operations.PROGRAMME_APPROVE, id=id_programme, body={}, key=idempotency_key),
        )

    async def refuse(self, id_programme: Id, *, idempotency_key: str | None = None) -> Programme:
        """Refuses a programme, or the change of it that waits."""
        return decode(
            Programme,
            await self._core.call(operations.PROGRAMME_REFUSE, id=id_programme, body={}, key=idempotency_key),
        )

    async def runs(
        self, id_programme: Id, *, page: int | None = None, per_page: int | None = None
    ) -> Page[Run]:
        """Lists the runs of a programme, newest first."""
        query = {"page": page, "per_page": per_page}
        return decode_page(Run, await self._core.call(operations.PROGRAMME_RUNS, id=id_programme, query=query))

    async def forecast(self, until: date) -> tuple[ProgrammeForecast, ...]:
        """What all programmes will do up to and on a day, if nothing else changes until then."""
        query = {"until": until}
        return decode_list(
            ProgrammeForecast, await self._core.call(operations.PROGRAMME_FORECAST, query=query)
        )

    async def preview(
        self, terms: Mapping[str, object], *, id_programme: Id | None = None, until: date | None = None
    ) -> tuple[ProgrammeForecast, ...]:
        """What all programmes would do if these terms were in force.

        They are those of a new programme, whose identifier is nil, or replace those of `id_programme`. Nothing is changed. `until`
        is 92 days ahead by default.
        """
        beside = {"idProgramme": id_programme, "forecastUntil": until}
        body = dict(terms) | {name: value for name, value in beside.items() if value is not None}
        return decode_list(
            ProgrammeForecast, await self._core.call(operations.PROGRAMME_PREVIEW, body=body)
        )
