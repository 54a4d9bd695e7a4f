"""Adds the employees of a CSV file whose `customId` is new, and lists the faulty rows.

    KOPECK_URL=… KOPECK_API_KEY=… KOPECK_LOGIN=… KOPECK_PASSWORD=… KOPECK_SEALING_KEY=… \\
        python examples/import_employees.py ../../docs/examples/employees.csv
"""

from __future__ import annotations

import csv
import os
import sys

import kopeck


def main(path: str) -> int:
    client = kopeck.Client(
        os.environ["KOPECK_URL"],
        api_key=os.environ["KOPECK_API_KEY"],
        login=os.environ["KOPECK_LOGIN"],
        password=os.environ["KOPECK_PASSWORD"],
        sealing_key=os.environ["KOPECK_SEALING_KEY"],
    )
    faulty = 0
    with client, open(path, encoding="utf-8-sig", newline="") as file:
        present = {employee.custom_id for employee in client.employees.all(per_page=500)}
        categories = {category.name_category: category.id_category for category in client.categories.all()}
        for number, row in enumerate(csv.DictReader(file), start=2):
            if row["customId"] in present:
                continue
            if row["category"] and row["category"] not in categories:
                categories[row["category"]] = client.categories.create(row["category"]).id_category
            try:
                client.employees.add(
                    row["customId"],
                    surname=row["surname"] or None,
                    name=row["name"] or None,
                    patronymic=row["patronymic"] or None,
                    phone=row["phone"] or None,
                    email=row["email"] or None,
                    id_category=categories.get(row["category"]),
                    status=kopeck.EmployeeStatus(row["status"]) if row["status"] else None,
                )
            except kopeck.InvalidError as error:
                faulty += 1
                for fault in error.faults:
                    print(f"line {number}: {fault}", file=sys.stderr)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
