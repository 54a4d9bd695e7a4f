"""When a call is tried again, and after how long."""

from __future__ import annotations

import random
from dataclasses import dataclass

from kopeck.errors import ApiError, KopeckError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried again, and how many seconds lie between the tries.

    Tried again is after a loss of the network, a timeout, a status of 408, 429, 500, 502, 503 or 504, and a 409 that
    says that the first try is still running. The delay doubles from try to try, with a random part, so that clients
    that failed together do not come back together. A retry cannot do anything twice: it carries the key of its call.
    """

    max_retries: int = 4
    """The most retries after the first try."""
    min_delay: float = 0.2
    """The delay before the first retry, without its random part."""
    max_delay: float = 5.0
    """The longest delay, without its random part."""
    max_retry_after: float = 60.0
    """The longest `Retry-After` to wait for. If the service asks for more, the call fails at once."""

    @classmethod
    def none(cls) -> RetryPolicy:
        """Never tries again."""
        return cls(max_retries=0)

    def delay(self, retry: int, error: KopeckError) -> float | None:
        """The seconds before a retry, counted from 0: never less than the service asked for. `None` gives up."""
        if retry >= self.max_retries:
            return None
        backoff = min(self.max_delay, self.min_delay * 2.0**retry)
        backoff += random.uniform(0, backoff)
        asked = error.retry_after if isinstance(error, ApiError) else None
        if asked is None:
            return backoff
        return max(asked, backoff) if asked <= self.max_retry_after else None
