"""Waiting for a request to be processed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from kopeck.aio.runtime import sleep
from kopeck.errors import UnfinishedError
from kopeck.models.generated import RequestStatus
from kopeck.words import RequestState

Progress = Callable[[RequestState], None]
"""Receives each state seen."""

_MIN_INTERVAL = 0.25
_MAX_INTERVAL = 5.0


async def until_final(
    poll: Callable[[], Awaitable[RequestStatus]], timeout: float, on_progress: Progress | None
) -> RequestState:
    """Asks by `poll` until the state is a final one, at intervals that double from 0.25 s to 5 s."""
    deadline = time.monotonic() + timeout
    interval = _MIN_INTERVAL
    while True:
        state = (await poll()).state
        if on_progress is not None:
            on_progress(state)
        if state.is_final:
            return state
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise UnfinishedError(state)
        await sleep(min(interval, remaining))
        interval = min(interval * 2, _MAX_INTERVAL)
