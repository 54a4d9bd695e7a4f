// Sealing, as docs/SEALING.md tells it: sealed values bound to the very call that they belong to.

import { chacha20poly1305 } from "./noble-ciphers/chacha.js";
import { concatBytes } from "./noble-ciphers/utils.js";

const FORMAT = "pcs1";
const HEADER = 33;
const utf8 = new TextEncoder();

/** The key behind `sk_…`: eight bytes that name it, and the secret. */
export function parseKey(text) {
  if (!text.startsWith("sk_")) throw new Error("a sealing key begins with sk_");
  const bytes = fromBase64url(text.slice(3));
  if (bytes.length !== 40) throw new Error("a sealing key has 40 bytes");
  return { id: bytes.subarray(0, 8), secret: bytes.subarray(8) };
}

/** A nonce of 128 random bits. */
export function freshNonce() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

/**
 * Seals a value of a call. `context` has `method`, `path` (as called, with `*` for sealed segments), `nonce` and
 * `slot`; `salt` and `time` are given by tests alone.
 */
export async function sealRequest(key, context, plain, salt, time) {
  const header = makeHeader(key, salt ?? crypto.getRandomValues(new Uint8Array(16)), time ?? Date.now() / 1000);
  const clear = context.clear ?? [];
  const aad = pae(FORMAT, header, context.method, context.path, ...clear);
  const { secret, iv } = await derive(key, header, "req", context);
  return "s1." + toBase64url(concatBytes(header, chacha20poly1305(secret, iv, aad).encrypt(pad(utf8.encode(plain)))));
}

/** Opens a sealed answer; throws unless it is the answer to this very call, with this status. */
export async function openResponse(key, context, status, sealed) {
  if (!sealed.startsWith("s1.")) throw new Error("a sealed value begins with s1.");
  const bytes = fromBase64url(sealed.slice(3));
  const header = bytes.subarray(0, HEADER);
  const id = hex(header.subarray(1, 9));
  if (id !== hex(key.id)) {
    throw new Error(`sealed under key ${id}, which this page does not have: was the sealing key rotated?`);
  }
  const aad = pae(FORMAT, header, context.method, context.path, String(status).padStart(3, "0"));
  const { secret, iv } = await derive(key, header, "res", { ...context, slot: "body" });
  const padded = chacha20poly1305(secret, iv, aad).decrypt(bytes.subarray(HEADER));
  return new TextDecoder("utf-8", { fatal: true }).decode(unpad(padded));
}

/** The number of pieces, then each with its length before it; lengths in 8 bytes, little-endian. */
export function pae(...pieces) {
  const bytes = pieces.map(piece => (typeof piece === "string" ? utf8.encode(piece) : piece));
  return concatBytes(length(bytes.length), ...bytes.flatMap(piece => [length(piece.length), piece]));
}

/** Appends 0x80, then zeroes up to a multiple of 32. */
export function pad(plain) {
  const padded = new Uint8Array(Math.ceil((plain.length + 1) / 32) * 32);
  padded.set(plain);
  padded[plain.length] = 0x80;
  return padded;
}

export function toBase64url(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function fromBase64url(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, character => character.charCodeAt(0));
}

function hex(bytes) {
  return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
}

function makeHeader(key, salt, seconds) {
  const time = new Uint8Array(8);
  new DataView(time.buffer).setBigUint64(0, BigInt(Math.floor(seconds)));
  return concatBytes(Uint8Array.of(1), key.id, time, salt);
}

async function derive(key, header, direction, { nonce, slot }) {
  const material = await crypto.subtle.importKey("raw", key.secret, "HKDF", false, ["deriveBits"]);
  const info = pae(FORMAT, direction, nonce, slot);
  const algorithm = { name: "HKDF", hash: "SHA-256", salt: header.subarray(17, HEADER), info };
  const bits = new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, 44 * 8));
  return { secret: bits.subarray(0, 32), iv: bits.subarray(32) };
}

function unpad(padded) {
  const end = padded.lastIndexOf(0x80);
  if (end < 0 || padded.subarray(end + 1).some(byte => byte !== 0)) throw new Error("it is not padded");
  return padded.subarray(0, end);
}

function length(number) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number), true);
  return bytes;
}
