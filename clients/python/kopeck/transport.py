"""One try of a call: seal, send, open."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from kopeck.answer import error_of, value_of
from kopeck.call import JSON, SEALED_JSON, Call, Sealing, render_clear
from kopeck.connections import Answer, Connections
from kopeck.errors import DecodeError, SealingError
from kopeck.version import VERSION


class Transport:
    """Sends calls, each try with a nonce of its own."""

    def __init__(self, connections: Connections, sealing: Sealing | None, clock: Callable[[], float]) -> None:
        self.connections = connections
        self.sealing = sealing
        self._clock = clock

    def now(self) -> int:
        """The time in Unix seconds."""
        return int(self._clock())

    def send(self, call: Call, credential: tuple[str, str]) -> object:
        """Answers the JSON of the answer, or raises the error that it stands for."""
        nonce = secrets.token_hex(16)
        rendered = self.sealing.render(call, nonce, self.now()) if self.sealing else render_clear(call)
        headers = {
            "accept": SEALED_JSON if self._seals_answers else JSON,
            "user-agent": f"kopeck-python/{VERSION}",
            "x-nonce": nonce,
            credential[0]: credential[1],
        }
        if call.key is not None:
            headers["idempotency-key"] = call.key
        if rendered.content_type is not None:
            headers["content-type"] = rendered.content_type
        answer = self.connections.send(call.operation.method, rendered.target, headers, rendered.body)
        text = self._open(call, nonce, answer)
        if not 200 <= answer.status < 300:
            raise error_of(answer.status, answer.headers, text)
        return value_of(text)

    def _open(self, call: Call, nonce: str, answer: Answer) -> str:
        succeeded = 200 <= answer.status < 300
        try:
            text = answer.body.decode()
        except UnicodeDecodeError:
            if succeeded:
                raise DecodeError("the answer is no text") from None
            # The error page of a proxy may be in any encoding; its status still counts.
            text = answer.body.decode(errors="replace")
        if self.sealing and (answer.headers.get("content-type") or "").startswith(SEALED_JSON):
            return self.sealing.open(call, nonce, answer.status, self.now(), text)
        # What the service refuses before it knows the caller comes in clear. A success in clear was made by someone
        # who cannot seal.
        if succeeded and self._seals_answers and text:
            raise SealingError("the answer came in clear")
        return text

    @property
    def _seals_answers(self) -> bool:
        return self.sealing is not None and self.sealing.answers
