/** ChaCha20 (RFC 8439, 2.4), for platforms that do not have it. */

import type { Bytes } from "./bytes.js";

const BLOCK = 64;
// "expand 32-byte k"
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/** Encrypts or decrypts; `counter` numbers the first block. */
export function chacha20(key: Uint8Array, nonce: Uint8Array, counter: number, data: Uint8Array): Bytes {
  const state = initial(key, nonce, counter);
  const out = new Uint8Array(data.length);
  const stream = new Uint8Array(BLOCK);
  const view = new DataView(stream.buffer);
  const working = new Uint32Array(16);
  for (let start = 0; start < data.length; start += BLOCK) {
    working.set(state);
    for (let round = 0; round < 10; round++) doubleRound(working);
    for (let i = 0; i < 16; i++) view.setUint32(4 * i, working[i]! + state[i]!, true);
    const length = Math.min(BLOCK, data.length - start);
    for (let i = 0; i < length; i++) out[start + i] = data[start + i]! ^ stream[i]!;
    state[12]!++;
  }
  return out;
}

function initial(key: Uint8Array, nonce: Uint8Array, counter: number): Uint32Array {
  const state = new Uint32Array(16);
  const words = (bytes: Uint8Array, at: number) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < bytes.length / 4; i++) state[at + i] = view.getUint32(4 * i, true);
  };
  state.set(CONSTANTS);
  words(key, 4);
  state[12] = counter;
  words(nonce, 13);
  return state;
}

function doubleRound(x: Uint32Array): void {
  quarterRound(x, 0, 4, 8, 12);
  quarterRound(x, 1, 5, 9, 13);
  quarterRound(x, 2, 6, 10, 14);
  quarterRound(x, 3, 7, 11, 15);
  quarterRound(x, 0, 5, 10, 15);
  quarterRound(x, 1, 6, 11, 12);
  quarterRound(x, 2, 7, 8, 13);
  quarterRound(x, 3, 4, 9, 14);
}

function quarterRound(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  let xa = x[a]! | 0;
  let xb = x[b]! | 0;
  let xc = x[c]! | 0;
  let xd = x[d]! | 0;
  xa = (xa + xb) | 0;
  xd = rotate(xd ^ xa, 16);
  xc = (xc + xd) | 0;
  xb = rotate(xb ^ xc, 12);
  xa = (xa + xb) | 0;
  xd = rotate(xd ^ xa, 8);
  xc = (xc + xd) | 0;
  xb = rotate(xb ^ xc, 7);
  x[a] = xa;
  x[b] = xb;
  x[c] = xc;
  x[d] = xd;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
