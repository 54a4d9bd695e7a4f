"""Generates what the package has beside its hand-written files.

    python tools/generate.py

The build of the package and its tests do that by themselves.
"""

from __future__ import annotations

import sys
from pathlib import Path

# As a script too, and from the build.
sys.path.insert(0, str(Path(__file__).parents[1]))

from tools import models, unasync


def generate() -> None:
    """Writes all generated files that are not as they should be, and removes those of what is gone."""
    files = {**models.generated(), **unasync.generated()}
    for path in (unasync.PACKAGE / "sync").rglob("*.py"):
        if path not in files and path.name not in unasync.BY_HAND:
            path.unlink()
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True, parents=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    generate()
