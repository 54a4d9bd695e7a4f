"""The programs of the READMEs run as they stand there, but for the address."""

from __future__ import annotations

import contextlib
import io
import os
import re
import unittest
from pathlib import Path
from unittest import mock

from kopeck import SealingKey
from tests.test_sealed import PAIR, sealed
from tests.stub import TOKEN_PATHS, Reply, Seen, Stub

OWN = Path(__file__).parents[1] / "README.md"
TOP = Path(__file__).parents[3] / "README.md"
KEY_TEXT = "sk_obLD1OX2BxgAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw"
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
META = {"current_page": 1, "from": 1, "to": 1, "total": 1, "last_page": 1, "per_page": 100, "path": "/v1/employees"}


def answer(seen: Seen) -> Reply:
    day = {"createdAt": "07.02.2026", "statusUpdatedAt": "07.02.2026"}
    employee = {"idEmployee": ID, "customId": "T-1", "surname": "Petrova", "status": "WORK", **day}
    balance = {"balance": 7, "hold": 0, "available": 7, "updatedAt": "07.02.2026 09:05"}
    bodies = {"/v1/employee/add": employee, "/v1/balance": balance, "/v1/employees": {"data": [employee], "meta": META}}
    body = PAIR if seen.path in TOKEN_PATHS else bodies[seen.path]
    return sealed(seen, body, key=SealingKey.parse(KEY_TEXT))


class Programs(unittest.TestCase):
    def test_they_run_as_they_stand(self) -> None:
        secrets = {"KOPECK_API_KEY": "k", "KOPECK_PASSWORD": "p", "KOPECK_SEALING_KEY": KEY_TEXT}
        expected = {TOP: [f"{ID} 7"], OWN: [f"{ID} 7", "T-1 Petrova"]}
        for readme, outputs in expected.items():
            blocks = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
            programs = [block for block in blocks if "http://127.0.0.1:8080" in block]
            self.assertEqual(len(programs), len(outputs))
            for program, output in zip(programs, outputs):
                with Stub(answer, tokens=answer) as stub, mock.patch.dict(os.environ, {**secrets, "no_proxy": "*"}):
                    with contextlib.redirect_stdout(io.StringIO()) as printed:
                        exec(program.replace("http://127.0.0.1:8080", stub.url), {"__name__": "__main__"})
                self.assertEqual(printed.getvalue().strip(), output)


if __name__ == "__main__":
    unittest.main()
