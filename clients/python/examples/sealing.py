"""Seals one body step by step, without the client, and shows every figure on the way."""

import base64

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# A real call takes its own sealing key, the time of now, and 16 random bytes for the salt.
SEALING_KEY = "sk_obLD1OX2BxgAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw"
TIME = 1_767_225_600
SALT = bytes.fromhex("cf3813724d09ad20f30b512203b70ddc")

NONCE = "3f2a9c51e7d84b0fa6c2d1e45b907788"
METHOD, PATH, SLOT = "POST", "/v1/get_access_token", "body"
PLAINTEXT = '{"login":"partner-1","password":"correct horse battery staple"}'


def pae(*pieces: bytes) -> bytes:
    """How many pieces, then each with its length."""
    encoded = len(pieces).to_bytes(8, "little")
    for piece in pieces:
        encoded += len(piece).to_bytes(8, "little") + piece
    return encoded


def show(name: str, value: bytes) -> None:
    print(f"{name}\n  {value.hex()}")


# The sealing key is the name of the key, 8 bytes, and its secret, 32 bytes.
raw_key = base64.urlsafe_b64decode(SEALING_KEY.removeprefix("sk_") + "==")
key_id, secret = raw_key[:8], raw_key[8:]

# 1. The header: suite, key, time, salt.
header = b"\x01" + key_id + TIME.to_bytes(8, "big") + SALT
show("header", header)

# 2. The padding: 0x80, then zeros up to a multiple of 32 bytes.
padded = PLAINTEXT.encode() + b"\x80"
padded += bytes(-len(padded) % 32)
show("padded", padded)

# 3. Key and IV for this value alone.
info = pae(b"pcs1", b"req", NONCE.encode(), SLOT.encode())
derived = HKDF(algorithm=SHA256(), length=44, salt=SALT, info=info).derive(secret)
key, iv = derived[:32], derived[32:]
show("info", info)
show("key", key)
show("iv", iv)

# 4. The ciphertext and its tag, bound to the call.
aad = pae(b"pcs1", header, METHOD.encode(), PATH.encode())
sealed = ChaCha20Poly1305(key).encrypt(iv, padded, aad)
show("aad", aad)
show("ciphertext and tag", sealed)

# 5. The text.
text = "s1." + base64.urlsafe_b64encode(header + sealed).rstrip(b"=").decode()
print(f"text\n  {text}")
