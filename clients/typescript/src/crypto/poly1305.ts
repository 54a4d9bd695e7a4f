/**
 * Poly1305 (RFC 8439, 2.5), for platforms that do not have it.
 *
 * Numbers of 130 bits are ten limbs of 13 bits. A product of two stays below 2^33, which a double holds exactly. No
 * branch and no index depends on the key or the message.
 */

import type { Bytes } from "./bytes.js";

const LIMBS = 10;
const LIMB = 1 << 13;
const MASK = LIMB - 1;
const BLOCK = 16;

/** The tag of a message under a key that is used once. */
export function poly1305(key: Uint8Array, message: Uint8Array): Bytes {
  const r = limbsOf(clamped(key), new Float64Array(LIMBS));
  // 2^130 is 5, so that is what a limb beyond the highest counts for.
  const wrapped = r.map((limb) => 5 * limb);
  const h = new Float64Array(LIMBS);
  const added = new Float64Array(LIMBS);
  const product = new Float64Array(LIMBS);
  // A block and its mark.
  const block = new Uint8Array(BLOCK + 1);
  for (let start = 0; start < message.length; start += BLOCK) {
    const length = Math.min(BLOCK, message.length - start);
    block.fill(0);
    block.set(message.subarray(start, start + length));
    block[length] = 1;
    limbsOf(block, added);
    for (let i = 0; i < LIMBS; i++) h[i]! += added[i]!;
    multiply(h, r, wrapped, product);
  }
  return plus(reduced(h), key.subarray(16, 32));
}

function clamped(key: Uint8Array): Uint8Array {
  const r = new Uint8Array(BLOCK + 1);
  r.set(key.subarray(0, 16));
  for (const i of [3, 7, 11, 15]) r[i]! &= 15;
  for (const i of [4, 8, 12]) r[i]! &= 252;
  return r;
}

function limbsOf(bytes: Uint8Array, limbs: Float64Array): Float64Array {
  for (let i = 0; i < LIMBS; i++) {
    const at = (13 * i) >> 3;
    const three = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    limbs[i] = (three >> ((13 * i) & 7)) & MASK;
  }
  return limbs;
}

/** `h = h * r mod 2^130 - 5`, up to carries. */
function multiply(h: Float64Array, r: Float64Array, wrapped: Float64Array, product: Float64Array): void {
  for (let i = 0; i < LIMBS; i++) {
    let sum = 0;
    for (let j = 0; j <= i; j++) sum += h[j]! * r[i - j]!;
    for (let j = i + 1; j < LIMBS; j++) sum += h[j]! * wrapped[i + LIMBS - j]!;
    product[i] = sum;
  }
  carry(product);
  h.set(product);
}

function carry(limbs: Float64Array): void {
  // Twice, as what the highest limb carries back to the lowest one may carry again.
  for (let round = 0; round < 2; round++) {
    let over = 0;
    for (let i = 0; i < LIMBS; i++) {
      const sum = limbs[i]! + over;
      over = Math.floor(sum / LIMB);
      limbs[i] = sum - over * LIMB;
    }
    limbs[0]! += 5 * over;
  }
}

/** The number below 2^130 - 5. */
function reduced(h: Float64Array): Float64Array {
  carry(h);
  const less = new Float64Array(LIMBS);
  let over = 5;
  for (let i = 0; i < LIMBS; i++) {
    const sum = h[i]! + over;
    over = Math.floor(sum / LIMB);
    less[i] = sum - over * LIMB;
  }
  // `over` is 1 if h was not below 2^130 - 5, else 0.
  return h.map((limb, i) => over * less[i]! + (1 - over) * limb);
}

/** The sum of a number and 16 bytes, modulo 2^128. */
function plus(h: Float64Array, pad: Uint8Array): Bytes {
  const out = new Uint8Array(BLOCK);
  let bits = 0;
  let pending = 0;
  let limb = 0;
  let over = 0;
  for (let i = 0; i < BLOCK; i++) {
    if (pending < 8) {
      bits |= h[limb++]! << pending;
      pending += 13;
    }
    over += (bits & 0xff) + pad[i]!;
    out[i] = over;
    over >>= 8;
    bits >>>= 8;
    pending -= 8;
  }
  return out;
}
