"""Employees and their categories."""

from __future__ import annotations

from collections.abc import AsyncIterator

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.pages import pages
from kopeck.call import Id
from kopeck.models.page import Page, decode_page
from kopeck.models.generated import Category, CategoryWithCount, Employee, EmployeeErased, EmployeeWithCards
from kopeck.parameters import KEEP, Keep
from kopeck.wire import decode, encode, under_data
from kopeck.words import EmployeeStatus


class Employees:
    """Calls about employees."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def add(
        self,
        custom_id: str,
        *,
        surname: str | None = None,
        name: str | None = None,
        patronymic: str | None = None,
        phone: str | None = None,
        email: str | None = None,
        id_category: Id | None = None,
        status: EmployeeStatus | None = None,
        idempotency_key: str | None = None,
    ) -> Employee:
        """Adds an employee.

        `custom_id` is the partner's own identifier, up to 64 letters, digits, `-` and `_`; `phone` is ten digits
        without country code; the status is `WORK` by default. Raises `InvalidError` with all faulty fields.
        """
        given = {
            "customId": custom_id,
            "surname": surname,
            "name": name,
            "patronymic": patronymic,
            "phone": phone,
            "email": email,
            "idCategory": id_category,
            "status": status,
        }
        body = {name: value for name, value in given.items() if value is not None}
        return decode(Employee, await self._core.call(operations.EMPLOYEE_ADD, body=body, key=idempotency_key))

    async def update(
        self,
        id_employee: Id,
        *,
        custom_id: str | Keep = KEEP,
        surname: str | Keep | None = KEEP,
        name: str | Keep | None = KEEP,
        patronymic: str | Keep | None = KEEP,
        phone: str | Keep | None = KEEP,
        email: str | Keep | None = KEEP,
        id_category: Id | Keep | None = KEEP,
        status: EmployeeStatus | Keep = KEEP,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Employee:
        """Changes an employee. What is not given stays as it is, `None` empties a field.

        With the `etag` of `get_tagged` as `if_match` it raises `ApiError` with `ErrorCode.PRECONDITION_FAILED` if the
        employee has changed since.
        """
        given = {
            "customId": custom_id,
            "surname": surname,
            "name": name,
            "patronymic": patronymic,
            "phone": phone,
            "email": email,
            "idCategory": id_category,
            "status": status,
        }
        body = {name: encode(value) for name, value in given.items() if value is not KEEP}
        answer = await self._core.call(
            operations.EMPLOYEE_UPDATE, id=id_employee, body=body, key=idempotency_key, if_match=if_match
        )
        return decode(Employee, answer)

    async def erase(self, id_employee: Id, *, idempotency_key: str | None = None) -> EmployeeErased:
        """Erases an employee's personal data for good.

        They must have no card that is neither closed nor expired.
        """
        answer = await self._core.call(operations.EMPLOYEE_ERASE, id=id_employee, key=idempotency_key)
        return decode(EmployeeErased, answer)

    async def get(self, id_employee: Id) -> EmployeeWithCards:
        """Reads an employee with their cards."""
        return decode(EmployeeWithCards, under_data(await self._core.call(operations.EMPLOYEE_GET, id=id_employee)))

    async def get_tagged(self, id_employee: Id) -> tuple[EmployeeWithCards, str | None]:
        """Reads an employee with their cards, and the `etag` of the version that was read."""
        answer = await self._core.read_tagged(operations.EMPLOYEE_GET, id=id_employee)
        return decode(EmployeeWithCards, under_data(answer.value)), answer.etag

    async def list(
        self,
        *,
        status: EmployeeStatus | None = None,
        id_category: Id | None = None,
        custom_id: str | None = None,
        q: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
    ) -> Page[Employee]:
        """Lists employees, the first added first.

        `q` is a text in surname, name or `custom_id`, letter case aside. A page has 15 records by default, 500 at most.
        """
        query = {"status": status, "idCategory": id_category, "customId": custom_id, "q": q}
        answer = await self._core.call(operations.EMPLOYEE_LIST, query={**query, "page": page, "per_page": per_page})
        return decode_page(Employee, answer)

    def all(
        self,
        *,
        status: EmployeeStatus | None = None,
        id_category: Id | None = None,
        q: str | None = None,
        per_page: int = 100,
    ) -> AsyncIterator[Employee]:
        """All employees, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(status=status, id_category=id_category, q=q, page=page, per_page=size),
            per_page,
            lambda employee: employee.id_employee,
        )


class Categories:
    """Calls about categories of employees."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def create(self, name: str, *, idempotency_key: str | None = None) -> Category:
        """Creates a category. Names have 1 to 128 characters and are unique, letter case aside."""
        body = {"nameCategory": name}
        return decode(Category, await self._core.call(operations.CATEGORY_CREATE, body=body, key=idempotency_key))

    async def rename(self, id_category: Id, name: str, *, idempotency_key: str | None = None) -> Category:
        """Renames a category."""
        body = {"nameCategory": name}
        answer = await self._core.call(operations.CATEGORY_RENAME, id=id_category, body=body, key=idempotency_key)
        return decode(Category, answer)

    async def delete(self, id_category: Id, *, idempotency_key: str | None = None) -> Category:
        """Deletes a category that no employee has, and returns what it was."""
        return decode(Category, await self._core.call(operations.CATEGORY_DELETE, id=id_category, key=idempotency_key))

    async def list(self, *, page: int | None = None, per_page: int | None = None) -> Page[CategoryWithCount]:
        """Lists categories, the first created first; 15 on a page by default, 500 at most."""
        query = {"page": page, "per_page": per_page}
        return decode_page(CategoryWithCount, await self._core.call(operations.CATEGORY_LIST, query=query))

    def all(self, *, per_page: int = 100) -> AsyncIterator[CategoryWithCount]:
        """All categories, read page by page as they are asked for; each once, whatever changes meanwhile."""
        return pages(
            lambda page, size: self.list(page=page, per_page=size), per_page, lambda category: category.id_category
        )
