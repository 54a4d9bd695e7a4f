"""What an answer says: its value, or the error that it stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kopeck.errors import ApiError, CardFault, CardsError, DecodeError, FieldFault, InvalidError
from kopeck.wire import decode
from kopeck.words import ErrorCode

_MAX_FOREIGN_MESSAGE = 200
"""The most characters of a foreign error page that are kept as its message."""


def value_of(text: str) -> object:
    """The JSON of a success; an answer without a body is `None`."""
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        # `from None`: the cause would hold the whole text.
        raise DecodeError("the answer is no JSON") from None


def error_of(status: int, headers: Mapping[str, str], text: str) -> ApiError:
    """The error that an answer other than 2xx stands for. The names of `headers` are in lower case."""
    request_id = headers.get("x-request-id")
    try:
        said: object = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    try:
        if status == 422 and isinstance(said, dict) and isinstance(said.get("data"), list):
            return InvalidError([decode(FieldFault, item) for item in said["data"]], request_id=request_id)
        if isinstance(said, list):
            return CardsError(status, [decode(CardFault, item) for item in said], request_id=request_id)
    except DecodeError:
        pass
    code, message = None, text.strip()[:_MAX_FOREIGN_MESSAGE]
    if isinstance(said, dict) and isinstance(said.get("message"), str):
        message = said["message"]
        code = ErrorCode(said["code"]) if isinstance(said.get("code"), str) else None
    return ApiError(status, code, message, request_id=request_id, retry_after=_seconds(headers.get("retry-after")))


def _seconds(text: str | None) -> float | None:
    try:
        seconds = int(text or "")
    except ValueError:
        return None
    return float(seconds) if seconds >= 0 else None
