"""Credentials and tokens, and when to renew them."""

from __future__ import annotations

from dataclasses import dataclass, field

_RENEWAL_MARGIN = 30
"""An access token is renewed this many seconds before it expires, but not before nine tenths of its life."""


@dataclass(frozen=True, slots=True)
class TokenPair:
    """The tokens that a login or a renewal yields. `repr` does not show them."""

    access_token: str = field(repr=False)
    """Goes with every call."""
    access_expire_at: int
    """When the access token expires, in Unix seconds."""
    refresh_token: str = field(repr=False)
    """Buys the next pair, once."""
    refresh_expire_at: int
    """When the refresh token expires, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the partner was issued. `repr` does not show the secrets."""

    api_key: str = field(repr=False)
    login: str
    password: str = field(repr=False)


class Tokens:
    """A pair with the time to renew it."""

    __slots__ = ("pair", "renew_at")

    def __init__(self, pair: TokenPair, now: int) -> None:
        self.pair = pair
        life = pair.access_expire_at - now
        # A token that seems to be expired when it comes tells of a clock that is wrong here. It serves until the
        # service refuses it, else every call would renew.
        self.renew_at = float("inf") if life <= 0 else now + life - min(_RENEWAL_MARGIN, -(-life // 10))

    @property
    def credential(self) -> tuple[str, str]:
        """The header that shows the access token."""
        return "authorization", f"Bearer {self.pair.access_token}"
