"""The wire format that encrypts bodies and parameters and binds them to their call; see docs/SEALING.md.

The client does all of this by itself. Use the module alone to check an implementation or to look into a call.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from kopeck.errors import ConfigError, SealingError

WINDOW_SECONDS = 300
"""By how many seconds the time of a sealed value may differ from the opener's clock."""

_PREFIX = "s1."
_KEY_PREFIX = "sk_"
_DOMAIN = b"pcs1"
_SUITE = b"\x01"
_BLOCK = 32
_MARK = 0x80
_HEADER_LEN = 33
_TAG_LEN = 16
_KEY_LEN = 32
_MAX_QUERY_CHARS = 2_048
_MAX_PARAMETER_CHARS = 512
_NONCE = re.compile(r"[A-Za-z0-9._~+/=-]{16,64}")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


class SealingKey:
    """A partner's sealing key. Neither `repr` nor `str` shows its secret."""

    __slots__ = ("_secret", "key_id")

    key_id: bytes
    """Names the key; 8 bytes, no secret."""

    def __init__(self, key_id: bytes, secret: bytes) -> None:
        if len(key_id) != 8 or len(secret) != _KEY_LEN:
            raise ConfigError("a sealing key is an id of 8 bytes and a secret of 32")
        self.key_id = key_id
        self._secret = secret

    @classmethod
    def parse(cls, text: str) -> SealingKey:
        """The key from its text, `sk_…`. Raises `ConfigError` for any other text."""
        raw = _decode_base64url(text[len(_KEY_PREFIX) :]) if text.startswith(_KEY_PREFIX) else None
        if raw is None or len(raw) != 8 + _KEY_LEN:
            raise ConfigError("a sealing key is 'sk_' and the base64url of 40 bytes")
        return cls(raw[:8], raw[8:])

    def __repr__(self) -> str:
        return f"SealingKey({self.key_id.hex()})"


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What a sealed value of a call is bound to."""

    method: str
    path: str
    """As called, see `bound_path`."""
    nonce: str
    """The `x-nonce` of the call."""
    slot: str
    """What is sealed: `body`, `query`, `path:idCard`, `query:page`, `field:/statusCard`."""
    clear: Sequence[tuple[str, str]] = ()
    """Slot and value of every parameter that travels clear beside sealed ones, in any order."""

    def _info(self) -> bytes:
        return _pae(_DOMAIN, b"req", self.nonce.encode(), self.slot.encode())

    def _associated_data(self, header: bytes) -> bytes:
        # By bytes, as every implementation has to sort alike.
        neighbours = sorted((slot.encode(), value.encode()) for slot, value in self.clear)
        flat = [piece for neighbour in neighbours for piece in neighbour]
        return _pae(_DOMAIN, header, self.method.encode(), self.path.encode(), *flat)

    def _max_chars(self) -> int | None:
        if self.slot == "query":
            return _MAX_QUERY_CHARS
        return _MAX_PARAMETER_CHARS if self.slot.startswith(("path:", "query:")) else None


@dataclass(frozen=True, slots=True)
class ResponseContext:
    """What the sealed body of an answer is bound to: the call, and the status it was answered with."""

    method: str
    path: str
    nonce: str
    status: int

    def _info(self) -> bytes:
        return _pae(_DOMAIN, b"res", self.nonce.encode(), b"body")

    def _associated_data(self, header: bytes) -> bytes:
        return _pae(_DOMAIN, header, self.method.encode(), self.path.encode(), b"%d" % self.status)

    def _max_chars(self) -> int | None:
        return None


@dataclass(frozen=True, slots=True)
class EventContext:
    """What the sealed `data` of an event is bound to; not to the URL of the webhook that receives it."""

    nonce: str
    """The event's `id`, which the header `webhook-id` carries too."""

    def _info(self) -> bytes:
        return _pae(_DOMAIN, b"evt", self.nonce.encode(), b"body")

    def _associated_data(self, header: bytes) -> bytes:
        return _pae(_DOMAIN, header, b"POST", b"/")

    def _max_chars(self) -> int | None:
        return None


Context: TypeAlias = RequestContext | ResponseContext | EventContext


def seal(
    key: SealingKey,
    context: Context,
    now_unix: int,
    plaintext: str,
    *,
    salt: bytes | None = None,
) -> str:
    """Seals a text for one call or event.

    `now_unix` is the time in Unix seconds. The salt is random; only tests give one.
    """
    salt = secrets.token_bytes(16) if salt is None else salt
    header = _SUITE + key.key_id + now_unix.to_bytes(8, "big") + salt
    cipher, iv = _cipher(key, salt, context._info())
    sealed = cipher.encrypt(iv, _pad(plaintext.encode()), context._associated_data(header))
    return _PREFIX + _encode_base64url(header + sealed)


def open_sealed(key: SealingKey, context: Context, now_unix: int, text: str) -> str:
    """Opens a sealed text. Raises `SealingError` unless it was sealed under `key` for exactly this call or event."""
    longest = context._max_chars()
    if longest is not None and len(text) > longest:
        raise SealingError("it is too long")
    if not _NONCE.fullmatch(context.nonce):
        raise SealingError("the nonce is malformed")
    raw = _decode_base64url(text[len(_PREFIX) :]) if text.startswith(_PREFIX) else None
    if raw is None or len(raw) < _HEADER_LEN + _BLOCK + _TAG_LEN:
        raise SealingError("it is not of the sealed form")
    if (len(raw) - _HEADER_LEN - _TAG_LEN) % _BLOCK != 0:
        raise SealingError("it is not of the sealed form")
    header, sealed = raw[:_HEADER_LEN], raw[_HEADER_LEN:]
    if header[:1] != _SUITE:
        raise SealingError("it is of another suite")
    cipher, iv = _cipher(key, header[17:], context._info())
    try:
        padded = cipher.decrypt(iv, sealed, context._associated_data(header))
    except InvalidTag:
        raise SealingError("it was not sealed for this call") from None
    if header[1:9] != key.key_id:
        raise SealingError("it was sealed under another key")
    if abs(int.from_bytes(header[9:17], "big") - now_unix) > WINDOW_SECONDS:
        raise SealingError("its time is more than five minutes off")
    return _unpad(padded)


def key_id_of(text: str) -> bytes | None:
    """The id of the key that a text says it is sealed under; `None` if it is no sealed text."""
    # 33 bytes are 44 characters exactly, so the head can be decoded without the rest.
    head = text[len(_PREFIX) : len(_PREFIX) + 44] if text.startswith(_PREFIX) else ""
    raw = _decode_base64url(head)
    return raw[1:9] if raw is not None and len(raw) == _HEADER_LEN and raw[:1] == _SUITE else None


def key_named(keys: Sequence[SealingKey], text: str, holder: str) -> SealingKey:
    """The one of the keys that a text says it is sealed under. Raises `SealingError`, which says what `holder` lacks."""
    key_id = key_id_of(text)
    if key_id is None:
        raise SealingError("it is not of the sealed form")
    for key in keys:
        if key.key_id == key_id:
            return key
    reason = f"sealed under key {key_id.hex()}, which this {holder} does not have: was the sealing key rotated?"
    raise SealingError(reason)


def bound_path(called: str) -> str:
    """The path that sealed values are bound to: without query and final slash, `*` for each sealed segment."""
    path = called.partition("?")[0].removesuffix("/")
    return "/".join("*" if part.startswith(_PREFIX) else part for part in path.split("/"))


def _cipher(key: SealingKey, salt: bytes, info: bytes) -> tuple[ChaCha20Poly1305, bytes]:
    derived = HKDF(algorithm=SHA256(), length=_KEY_LEN + 12, salt=salt, info=info).derive(key._secret)
    return ChaCha20Poly1305(derived[:_KEY_LEN]), derived[_KEY_LEN:]


def _pae(*pieces: bytes) -> bytes:
    """PASETO's pre-authentication encoding: no two lists of pieces are encoded alike."""
    encoded = [len(pieces).to_bytes(8, "little")]
    for piece in pieces:
        encoded += (len(piece).to_bytes(8, "little"), piece)
    return b"".join(encoded)


def _pad(plaintext: bytes) -> bytes:
    # Whole blocks, so that values of similar length cannot be told apart.
    padded = plaintext + bytes((_MARK,))
    return padded + bytes(-len(padded) % _BLOCK)


def _unpad(padded: bytes) -> str:
    stripped = padded.rstrip(b"\0")
    # A mark before the last block would be a second encoding of the same plaintext.
    if stripped[-1:] != bytes((_MARK,)) or len(padded) - len(stripped) >= _BLOCK:
        raise SealingError("its padding is malformed")
    try:
        return stripped[:-1].decode()
    except UnicodeDecodeError:
        raise SealingError("it is no text") from None


def _encode_base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decode_base64url(text: str) -> bytes | None:
    """Only the one encoding of each value: no padding, no other characters, no stray bits at the end."""
    if len(text) % 4 == 1 or not _BASE64URL.fullmatch(text):
        return None
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return raw if _encode_base64url(raw) == text else None
