"""Adds the employees of a CSV file whose `customId` is new, and lists the faulty rows. A second run changes nothing.

    KOPECK_URL=… KOPECK_API_KEY=… KOPECK_LOGIN=… KOPECK_PASSWORD=… KOPECK_SEALING_KEY=… \\
        python examples/import_employees.py ../../docs/examples/employees.csv
"""

from __future__ import annotations

import csv
import os
import sys
from unicodedata import normalize
from uuid import UUID

import kopeck


def composed(text: str) -> str:
    """A text as the service stores and compares it: `й` is one character, however it was typed."""
    return normalize("NFC", text)


def folded(name: str) -> str:
    """The name of a category as the service compares it: without letter case and the blanks around it."""
    return composed(composed(name.strip()).lower())


class Categories:
    """Finds categories by name, and creates those that are missing."""

    def __init__(self, client: kopeck.Client) -> None:
        self._client = client
        self._known = {folded(one.name_category): one.id_category for one in client.categories.all()}

    def id_of(self, name: str) -> UUID | None:
        if not name:
            return None
        if folded(name) not in self._known:
            self._known[folded(name)] = self._client.categories.create(name).id_category
        return self._known[folded(name)]


def main(path: str) -> int:
    client = kopeck.Client(
        os.environ["KOPECK_URL"],
        api_key=os.environ["KOPECK_API_KEY"],
        login=os.environ["KOPECK_LOGIN"],
        password=os.environ["KOPECK_PASSWORD"],
        sealing_key=os.environ["KOPECK_SEALING_KEY"],
    )
    faulty = 0
    lines: dict[str, int] = {}
    with client, open(path, encoding="utf-8-sig", newline="") as file:
        present = {employee.custom_id for employee in client.employees.all(per_page=500)}
        categories = Categories(client)
        for number, row in enumerate(csv.DictReader(file), start=2):
            custom_id = composed(row["customId"])
            if lines.setdefault(custom_id, number) != number:
                faulty += 1
                print(f"line {number}: customId: stands in line {lines[custom_id]} already", file=sys.stderr)
                continue
            if custom_id in present:
                continue
            try:
                client.employees.add(
                    custom_id,
                    surname=row["surname"] or None,
                    name=row["name"] or None,
                    patronymic=row["patronymic"] or None,
                    phone=row["phone"] or None,
                    email=row["email"] or None,
                    id_category=categories.id_of(row["category"]),
                    status=kopeck.EmployeeStatus(row["status"]) if row["status"] else None,
                )
            except kopeck.InvalidError as error:
                faulty += 1
                for fault in error.faults:
                    print(f"line {number}: {fault}", file=sys.stderr)
            except kopeck.ApiError as error:
                # Such as a category that another program has created meanwhile. All else is not about this row.
                if error.status != 409:
                    raise
                faulty += 1
                print(f"line {number}: {error.message}", file=sys.stderr)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
