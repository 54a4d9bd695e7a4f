"""The feed of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.models.generated import Event, Feed
from kopeck.wire import decode

# Seconds that a follower lets the service wait for an event; a call may take thirty.
_WAIT = 20


class Events:
    """Calls about the feed of events."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def list(
        self,
        *,
        after: int = 0,
        from_now: bool = False,
        limit: int | None = None,
        types: Sequence[str] = (),
        wait: int | None = None,
    ) -> Feed:
        """Reads the events after a number, of some types or of all; 100 by default, 500 at most.

        With `from_now` it begins after the newest event, whatever `after` is. If there is none, the service waits up to
        `wait` seconds for one, 30 at most; choose fewer than the client's timeout. Raises `ApiError` with 410 and the code
        `ErrorCode.EVENTS_EXPIRED` if events after the number are no longer kept, `ErrorCode.EVENTS_AHEAD` if there is none
        with that number yet: the feed is another one than it was.
        """
        query = {"after": "newest" if from_now else after, "limit": limit, "types": ",".join(types) or None, "wait": wait}
        return decode(Feed, await self._core.call(operations.EVENT_FEED, query=query))

    async def follow(
        self, *, after: int = 0, from_now: bool = False, types: Sequence[str] = ()
    ) -> AsyncIterator[Event]:
        """The events after a number, or from now on, as they come, without end.

        Store the `seq` of each with what it changed. Raises as `list` does.
        """
        while True:
            feed = await self.list(after=after, from_now=from_now, types=types, wait=_WAIT)
            after, from_now = feed.next, False
            for event in feed.data:
                yield event
