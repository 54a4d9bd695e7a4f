"""One try of a call without its I/O: the request that is sent, and what the response means."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from kopeck.answer import error_of, value_of
from kopeck.call import JSON, SEALED_JSON, Call, Sealing, render_clear
from kopeck.errors import DecodeError, InvalidError, SealingError
from kopeck.version import VERSION

MAX_BODY = 64 << 20
"""The largest response that is read, in bytes; a result of 100,000 cards, sealed, stays well below it."""

_NOTABLE_OFFSET = 240
"""From how many seconds on a clock's offset is named beside a refusal. The service refuses sealed values from 300 on."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call as it is sent."""

    method: str
    target: str = field(repr=False)
    """Path and query."""
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)

    @property
    def nonce(self) -> str:
        """Its `x-nonce`."""
        return self.headers["x-nonce"]


@dataclass(frozen=True, slots=True)
class Response:
    """A response as it came."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a response says."""

    value: object = field(repr=False)
    """Its JSON, or the bytes of a file."""
    etag: str | None


class Codec:
    """Writes requests, each with a nonce of its own, and reads responses."""

    def __init__(self, sealing: Sealing | None, clock: Callable[[], float]) -> None:
        self._sealing = sealing
        self._clock = clock

    def now(self) -> int:
        """The time in Unix seconds."""
        return int(self._clock())

    def request(self, call: Call, credential: tuple[str, str]) -> Request:
        """The request of one try of a call; `credential` is the header that says who calls."""
        nonce = secrets.token_hex(16)
        rendered = self._sealing.render(call, nonce, self.now()) if self._sealing else render_clear(call)
        headers = {
            "accept": call.accept or (SEALED_JSON if self._seals_answers else JSON),
            "user-agent": f"kopeck-python/{VERSION}",
            "x-nonce": nonce,
            credential[0]: credential[1],
        }
        if call.key is not None:
            headers["idempotency-key"] = call.key
        if call.if_match is not None:
            headers["if-match"] = call.if_match
        if rendered.content_type is not None:
            headers["content-type"] = rendered.content_type
        return Request(call.operation.method, rendered.target, headers, rendered.body)

    def value(self, call: Call, request: Request, response: Response) -> object:
        """The JSON of a response, or the bytes of a file. Raises the error that it stands for."""
        if call.accept is not None and 200 <= response.status < 300:
            return response.body
        try:
            text = self._open(call, request.nonce, response)
        except SealingError as error:
            if note := self._clock_note(response):
                raise SealingError(f"{error}; {note}") from None
            raise
        if 200 <= response.status < 300:
            return value_of(text)
        refusal = error_of(response.status, response.headers, text)
        if isinstance(refusal, InvalidError) and (note := self._clock_note(response)):
            refusal.add_reason(note)
        raise refusal

    def _open(self, call: Call, nonce: str, response: Response) -> str:
        succeeded = 200 <= response.status < 300
        try:
            text = response.body.decode()
        except UnicodeDecodeError:
            if succeeded:
                raise DecodeError("the answer is no text") from None
            # The error page of a proxy may be in any encoding; its status still counts.
            text = response.body.decode(errors="replace")
        if self._sealing and response.headers.get("content-type", "").startswith(SEALED_JSON):
            return self._sealing.open(call, nonce, response.status, self.now(), text)
        # What the service refuses before it knows the caller comes in clear. A success in clear was made by someone
        # who cannot seal.
        if succeeded and self._seals_answers and text:
            raise SealingError("the answer came in clear")
        return text

    def _clock_note(self, response: Response) -> str | None:
        """That the clocks differ, if values are sealed and that may be the reason why one was refused."""
        if self._sealing is None:
            return None
        try:
            service = parsedate_to_datetime(response.headers.get("date", "")).timestamp()
        except (TypeError, ValueError):
            return None
        offset = round(self._clock() - service)
        if abs(offset) < _NOTABLE_OFFSET:
            return None
        return f"your clock is {abs(offset)} s {'ahead of' if offset > 0 else 'behind'} the service's"

    @property
    def _seals_answers(self) -> bool:
        return self._sealing is not None and self._sealing.answers
