"""The import of the examples compares texts as the service does."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import UUID

import kopeck
from tests.stub import Reply, Seen, Stub

EXAMPLE = Path(__file__).parents[1] / "examples" / "import_employees.py"
SETTINGS = ("KOPECK_URL", "KOPECK_API_KEY", "KOPECK_LOGIN", "KOPECK_PASSWORD", "KOPECK_SEALING_KEY")

FILE = (
    "customId,surname,name,patronymic,phone,email,category,status\n"
    "И\u0306-1,Е\u0308лкина,,,,, dRIVERS ,\n"
    "E-2,Mu\u0308ller,,,,,Музеи\u0306,\n"
    "E-3,Orlov,,,,,МУЗЕЙ,\n"
    "Й-1,Again,,,,,,\n"
    "E-4,Popov,,,,,Taken,\n"
    "E-5,Ivanov,,,,,,\n"
)


class Service:
    """Has the category `Drivers`, and refuses one that another has created meanwhile."""

    def __init__(self) -> None:
        self.staff: list[dict[str, Any]] = []
        self.categories = [self.category(1, "Drivers")]

    @staticmethod
    def category(number: int, name: str) -> dict[str, Any]:
        return {"idCategory": str(UUID(int=number)), "nameCategory": name, "employees": 0}

    def answer(self, seen: Seen) -> Reply:
        given = json.loads(seen.body or "{}")
        if seen.path in ("/v1/employees", "/v1/categories"):
            data = self.staff if seen.path == "/v1/employees" else self.categories
            meta = {"current_page": 1, "from": 1, "to": 1, "total": len(data), "last_page": 1, "per_page": 500, "path": ""}
            return Reply(200, {"data": data, "meta": meta})
        if seen.path == "/v1/category":
            if given["nameCategory"] == "Taken":
                return Reply(409, {"code": "category_exists", "message": "another category has this name"})
            self.categories.append(self.category(len(self.categories) + 1, given["nameCategory"]))
            return Reply(201, self.categories[-1])
        day = {"createdAt": "07.02.2026", "statusUpdatedAt": "07.02.2026"}
        self.staff.append({"idEmployee": str(UUID(int=len(self.staff))), "status": "WORK", **day, **given})
        return Reply(200, self.staff[-1])


class Import(unittest.TestCase):
    def test_a_second_run_changes_nothing_however_letters_were_typed(self) -> None:
        spec = importlib.util.spec_from_file_location("import_employees", EXAMPLE)
        assert spec is not None and spec.loader is not None
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        service = Service()
        faults = "line 5: customId: stands in line 2 already\nline 6: another category has this name\n"
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".csv") as file, Stub(service.answer) as stub:
            file.write(FILE)
            file.flush()
            for tried in (2, 3):
                printed = io.StringIO()
                with (
                    mock.patch.dict(os.environ, dict.fromkeys(SETTINGS, "x")),
                    mock.patch.object(kopeck, "Client", lambda *_, **__: stub.client()),
                    contextlib.redirect_stderr(printed),
                ):
                    self.assertEqual(example.main(file.name), 1)
                self.assertEqual(printed.getvalue(), faults)
                # The second time only the category that is refused.
                self.assertEqual((stub.count("/v1/employee/add"), stub.count("/v1/category")), (4, tried))
        drivers, museum = str(UUID(int=1)), str(UUID(int=2))
        self.assertEqual([one.get("idCategory") for one in service.staff], [drivers, museum, museum, None])


if __name__ == "__main__":
    unittest.main()
