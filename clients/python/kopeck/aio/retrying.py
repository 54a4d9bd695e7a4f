"""Tries again, as a policy says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from kopeck.aio.runtime import sleep
from kopeck.errors import KopeckError
from kopeck.retry import RetryPolicy

T = TypeVar("T")


async def retrying(
    policy: RetryPolicy, attempt: Callable[[], Awaitable[T]], may_retry: Callable[[KopeckError], bool]
) -> T:
    """Tries until it succeeds, fails for good, or the retries are used up."""
    retry = 0
    while True:
        try:
            return await attempt()
        except KopeckError as error:
            delay = policy.delay(retry, error) if may_retry(error) else None
            if delay is None:
                raise
        await sleep(delay)
        retry += 1
