"""Sessions of one's own login, and the request log."""

from __future__ import annotations

from collections.abc import AsyncIterator

from kopeck import operations
from kopeck.aio.core import Core
from kopeck.aio.runtime import sleep
from kopeck.call import Id
from kopeck.errors import DecodeError
from kopeck.models.generated import LoggedRequest, RequestFeed, Session, SessionEnded
from kopeck.wire import decode

# Seconds between two looks of a follower.
_INTERVAL = 2.0


class Sessions:
    """Calls about the sessions of the client's login."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def list(self) -> tuple[Session, ...]:
        """The active sessions, the oldest first; the one of this client is `current`."""
        answer = await self._core.call(operations.SESSION_LIST)
        if not isinstance(answer, list):
            raise DecodeError("the answer is no list")
        return tuple(decode(Session, item) for item in answer)

    async def end(self, id_session: Id, *, idempotency_key: str | None = None) -> SessionEnded:
        """Ends a session with all of its tokens, within five seconds everywhere."""
        answer = await self._core.call(operations.SESSION_END, id=id_session, key=idempotency_key)
        return decode(SessionEnded, answer)


class RequestLog:
    """Calls about the request log: the partner's own requests of the last 14 days."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def list(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        status: int | None = None,
        operation: str | None = None,
        request_id: str | None = None,
    ) -> RequestFeed:
        """Reads the requests after a number, 100 by default, 500 at most.

        A number is never less than the time at which it was given, in microseconds of Unix time, so `after` can be a time.
        With a filter a page may be empty although more follow: read on while `next` grows.
        """
        query = {"after": after, "limit": limit, "status": status, "operation": operation, "requestId": request_id}
        return decode(RequestFeed, await self._core.call(operations.REQUEST_LIST, query=query))

    async def follow(
        self,
        *,
        after: int = 0,
        status: int | None = None,
        operation: str | None = None,
        request_id: str | None = None,
    ) -> AsyncIterator[LoggedRequest]:
        """The requests after a number as they come, without end."""
        while True:
            page = await self.list(after=after, status=status, operation=operation, request_id=request_id)
            for request in page.data:
                yield request
            if page.next == after:
                await sleep(_INTERVAL)
            after = page.next
