"""Checks what a webhook delivers, by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Literal

from kopeck.errors import DecodeError, KopeckError, SealingError
from kopeck.models.generated import Event
from kopeck.sealing import EventContext, SealingKey, key_named, open_sealed
from kopeck.wire import decode

_WINDOW = 300


WebhookFault = Literal["header", "timestamp", "signature", "sealed", "body"]


class WebhookError(KopeckError):
    """A delivery that did not come from the service, or not now. Answer 400."""

    reason: WebhookFault
    """What is wrong: `header` (one is missing or malformed), `timestamp` (more than five minutes away: old, or your clock is
    wrong), `signature` (none is right), `sealed` (the event cannot be opened, or is in clear and should not be), `body` (it
    is no event)."""

    def __init__(self, reason: WebhookFault, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class WebhookVerifier:
    """Checks deliveries under the webhook's secrets; during a rotation there are two.

        verifier = WebhookVerifier("whsec_…", sealing_key="sk_…")
        event = verifier.verify(request.headers, request.get_data())
    """

    def __init__(
        self,
        *secrets: str,
        sealing_key: SealingKey | str | None = None,
        also_open_with: Sequence[SealingKey | str] = (),
        require_sealed: bool = True,
    ) -> None:
        """`sealing_key` opens sealed events, `also_open_with` are further keys for them, while keys are rotated. With a key,
        an event in plaintext is refused, so that the secret alone is not enough to forge one, unless `require_sealed` is
        false."""
        if not secrets:
            raise ValueError("a secret is needed")
        self._secrets = [_secret(text) for text in secrets]
        given = (*(() if sealing_key is None else (sealing_key,)), *also_open_with)
        self._keys = [SealingKey.parse(key) if isinstance(key, str) else key for key in given]
        self._require_sealed = require_sealed and bool(self._keys)

    def verify(self, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Event:
        """The event of a delivery. `body` is the bytes as they came. Raises `WebhookError`.

        The same event may come more than once: its `id` tells.
        """
        names = {name.lower(): value for name, value in headers.items()}
        try:
            message, sent, signatures = (names[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        except KeyError:
            raise WebhookError("header", "a header of webhooks is missing") from None
        # Servers hand on bytes of any kind, some as halves of surrogate pairs, which cannot be encoded.
        if not (message.isascii() and signatures.isascii()):
            raise WebhookError("header", "a header of webhooks is not ASCII")
        if not (sent.isascii() and sent.isdigit() and len(sent) < 16):
            raise WebhookError("header", "the timestamp is no number")
        now = time.time() if now is None else now
        if abs(now - int(sent)) > _WINDOW:
            raise WebhookError("timestamp", "the timestamp is more than five minutes away")
        signed = f"{message}.{sent}.".encode() + body
        expected = [base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)) for secret in self._secrets]
        given = [one.removeprefix("v1,").encode() for one in signatures.split(" ") if one.startswith("v1,")]
        # Each pair is compared, in constant time.
        if not sum(hmac.compare_digest(one, other) for one in expected for other in given):
            raise WebhookError("signature", "no signature matches")
        return self._event(message, body, now)

    def _event(self, message: str, body: bytes, now: float) -> Event:
        try:
            fields = json.loads(body)
            if isinstance(fields, dict) and "sealed" in fields:
                if not self._keys:
                    raise WebhookError("sealed", "the event is sealed, and this verifier has no sealing key")
                sealed = str(fields.pop("sealed"))
                key = key_named(self._keys, sealed, "verifier")
                fields["data"] = json.loads(open_sealed(key, EventContext(message), int(now), sealed))
            elif self._require_sealed:
                reason = "the event is not sealed, and this verifier has a sealing key: it takes sealed events only"
                raise WebhookError("sealed", reason)
            return decode(Event, fields, "the event")
        except SealingError as error:
            raise WebhookError("sealed", f"the event cannot be opened: {error}") from None
        except (ValueError, RecursionError, DecodeError) as error:
            raise WebhookError("body", f"the event cannot be read: {error}") from None


def _secret(text: str) -> bytes:
    """An empty or short secret would let anyone sign, so it is refused."""
    try:
        secret = base64.b64decode(text.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not text.startswith("whsec_") or len(secret) != 32:
        raise ValueError("a secret is whsec_ and base64 of 32 bytes")
    return secret
