"""The blocking client is what the tool makes of the one for asyncio."""

from __future__ import annotations

import unittest

from tools.unasync import BY_HAND, PACKAGE, generated


class Generated(unittest.TestCase):
    def test_the_blocking_client_is_generated_from_the_one_for_asyncio(self) -> None:
        files = generated()
        for path, text in files.items():
            self.assertEqual(path.read_text(encoding="utf-8"), text, f"{path}: run tools/unasync.py")
        present = {path for path in (PACKAGE / "sync").rglob("*.py") if path.name not in BY_HAND}
        self.assertEqual(present, set(files))


if __name__ == "__main__":
    unittest.main()
