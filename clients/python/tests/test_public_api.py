"""What users import, with its signatures, is in public_api.txt: a line that changes or goes breaks them. What is new may wait
for the release.

    python -m tests.test_public_api > tests/public_api.txt

The names of `kopeck.AsyncClient` are left out, because the blocking ones are made of them.
"""

from __future__ import annotations

import enum
import inspect
import re
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import kopeck

SNAPSHOT = Path(__file__).with_name("public_api.txt")


def public_api() -> Iterator[str]:
    for name in sorted(kopeck.__all__):
        value = getattr(kopeck, name)
        if not inspect.isclass(value):
            yield name + (signature(value) if inspect.isfunction(value) else "")
        elif not name.startswith("Async"):
            bases = [base.__name__ for base in value.__mro__[1:] if base.__name__ in kopeck.__all__]
            yield f"class {name}({', '.join(bases)})"
            yield from (f"{name}.{member}" for member in members(value))


def members(kind: type[Any]) -> Iterator[str]:
    if issubclass(kind, enum.Enum):
        yield from (f"{name} = {member.value!r}" for name, member in sorted(kind.__members__.items()))
    elif inspect.isfunction(kind.__init__):
        yield "__init__" + signature(kind.__init__)
    own = {name: value for base in reversed(kind.__mro__) if is_ours(base) for name, value in vars(base).items()}
    for name, value in sorted(own.items()):
        if name.startswith("_") or issubclass(kind, enum.Enum) and name in kind.__members__:
            continue
        function = getattr(value, "__func__", value)
        if isinstance(value, property):
            yield name
        elif inspect.isfunction(function):
            yield f"{name}{in_terms_of(kind, signature(function))}"


def is_ours(kind: type[Any]) -> bool:
    return kind.__module__.startswith("kopeck.")


def signature(function: Any) -> str:
    return str(inspect.signature(function)).replace("'", "")


def in_terms_of(kind: type[Any], text: str) -> str:
    """A type variable of a generic base as this class has it."""
    arguments = [one for base in getattr(kind, "__orig_bases__", ()) for one in get_args(base)]
    return re.sub(r"\bR\b", arguments[0].__name__, text) if arguments else text


class PublicApi(unittest.TestCase):
    def test_what_users_import_stays(self) -> None:
        found = set(public_api())
        self.assertEqual([line for line in SNAPSHOT.read_text(encoding="utf-8").splitlines() if line not in found], [])


if __name__ == "__main__":
    print("\n".join(public_api()))
