"""Generates what the repository does not have, before the package is built. A source distribution has it already."""

import sys
from pathlib import Path

from setuptools import setup

FOLDER = Path(__file__).resolve().parent

if (FOLDER / "tools/generate.py").exists():
    sys.path.insert(0, str(FOLDER))
    from tools.generate import generate

    generate()

setup()
