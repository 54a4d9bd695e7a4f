"""The tests run in a fresh checkout too."""

from tools.generate import generate

generate()
