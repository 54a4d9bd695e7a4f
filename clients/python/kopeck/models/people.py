"""Employees and their categories."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

from kopeck.wire import named, phone_text
from kopeck.words import CardStatus, EmployeeStatus


class Keep:
    """What an update does to a field that it does not name: nothing."""

    def __repr__(self) -> str:
        return "KEEP"


KEEP: Final = Keep()
"""Leaves a field as it is, where `None` would empty it."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category of employees."""

    id_category: UUID
    name_category: str


@dataclass(frozen=True, slots=True)
class CategoryWithCount(Category):
    """A category in the list of categories."""

    employees: int = 0
    """How many employees have it."""


@dataclass(frozen=True, slots=True)
class Employee:
    """An employee."""

    id_employee: UUID
    """The identifier that the service gave."""
    custom_id: str
    """The partner's own identifier, unique for the partner."""
    status: EmployeeStatus
    created_at: date
    """The day the employee was added."""
    status_updated_at: date = named("statusUpdatedAt", "statusUpdateAt")
    """The day of the last change of status."""
    surname: str | None = None
    name: str | None = None
    patronymic: str | None = None
    phone: str | None = named(read=phone_text, default=None)
    """Ten digits, without country code."""
    email: str | None = None
    id_category: UUID | None = None


@dataclass(frozen=True, slots=True)
class EmployeeCard:
    """A card linked to an employee."""

    id_card: UUID
    status_card: CardStatus


@dataclass(frozen=True, slots=True)
class EmployeeErased:
    """An employee whose personal data was erased."""

    id_employee: UUID


@dataclass(frozen=True, slots=True)
class EmployeeWithCards(Employee):
    """An employee with the cards linked to them."""

    cards: tuple[EmployeeCard, ...] = ()
