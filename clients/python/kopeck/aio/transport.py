"""One try of a call."""

from __future__ import annotations

from kopeck.aio.connections import Connections
from kopeck.call import Call
from kopeck.codec import Answer, Codec


class Transport:
    """Sends calls, each try with a nonce of its own."""

    def __init__(self, connections: Connections, codec: Codec) -> None:
        self.connections = connections
        self._codec = codec

    def now(self) -> int:
        """The time in Unix seconds."""
        return self._codec.now()

    async def send(self, call: Call, credential: tuple[str, str]) -> Answer:
        """Answers the JSON of the response and its entity tag, or raises the error that it stands for."""
        request = self._codec.request(call, credential)
        response = await self.connections.send(request)
        return Answer(self._codec.value(call, request, response), response.headers.get("etag"))
