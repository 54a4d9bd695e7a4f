"""Words of the service. A newer service may add some, which then break no older client."""

from __future__ import annotations

from enum import Enum


class Word(str, Enum):
    """A word as the service writes it. One that this version does not know is kept as it came; see `known`."""

    @classmethod
    def _missing_(cls, value: object) -> Word | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = "UNKNOWN"
        unknown._value_ = value
        return unknown

    @property
    def known(self) -> bool:
        """Whether this version of the client knows the word."""
        return self._name_ in type(self).__members__

    def __str__(self) -> str:
        return str(self._value_)


class State(Word):
    """The state of a request."""

    @property
    def is_final(self) -> bool:
        """Whether the service is done with the request. A state that the client does not know is not final."""
        return self.known and self._value_ not in ("NEW", "IN_PROCESS")
