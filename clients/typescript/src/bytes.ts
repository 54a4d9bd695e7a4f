/** Bytes, and the texts that stand for them. */

import { bytesToHex } from "@noble/ciphers/utils.js";

export type Bytes = Uint8Array<ArrayBuffer>;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));
const NONE = 0xff;
const SIXTETS = new Uint8Array(128).fill(NONE);
CODES.forEach((code, sixtet) => (SIXTETS[code] = sixtet));

const encoder = new TextEncoder();

/** The bytes of a text in UTF-8. */
export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** The text that bytes are in UTF-8; `undefined` if they are none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Which comes first by their bytes, as `Array.sort` wants it. */
export function compare(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** `bytes` random bytes as hexadecimal digits. */
export function randomHex(bytes: number): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** The base64url of bytes, without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const out = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    for (let shift = 18; shift >= 0 && at < out.length; shift -= 6) out[at++] = CODES[(group >> shift) & 63]!;
  }
  return new TextDecoder().decode(out);
}

/** The base64 of bytes. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encodeBase64url(bytes).replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

/** The bytes of a base64url, `undefined` for anything but the one encoding of each value. */
export function decodeBase64url(text: string): Bytes | undefined {
  if (text.length % 4 === 1) return undefined;
  const out = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let pending = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const sixtet = SIXTETS[text.charCodeAt(i)] ?? NONE;
    if (sixtet === NONE) return undefined;
    bits = ((bits << 6) | sixtet) & 0xffff;
    pending += 6;
    if (pending >= 8) {
      pending -= 8;
      out[at++] = bits >> pending;
    }
  }
  // Bits that are left over have to be zero, else there would be several encodings.
  return (bits & ((1 << pending) - 1)) === 0 ? out : undefined;
}
