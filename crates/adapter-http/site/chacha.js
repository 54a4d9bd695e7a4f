// ChaCha20-Poly1305 (RFC 8439), as not every browser has it among its own ciphers.

const BLOCK = 64;
const TAG = 16;

/** Encrypts `plain` under a key of 32 bytes and an IV of 12; answers ciphertext and tag. */
export function encrypt(key, iv, aad, plain) {
  const cipher = xor(key, iv, 1, plain);
  return concat(cipher, tag(key, iv, aad, cipher));
}

/** Decrypts what `encrypt` made; throws if any of it was changed. */
export function decrypt(key, iv, aad, sealed) {
  if (sealed.length < TAG) throw new Error("too short to be sealed");
  const cipher = sealed.subarray(0, sealed.length - TAG);
  const expected = tag(key, iv, aad, cipher);
  const given = sealed.subarray(sealed.length - TAG);
  let difference = 0;
  for (let i = 0; i < TAG; i += 1) difference |= expected[i] ^ given[i];
  if (difference !== 0) throw new Error("it does not open: the tag is not that of key, nonce, path and status");
  return xor(key, iv, 1, cipher);
}

export function concat(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

function xor(key, iv, counter, bytes) {
  const out = new Uint8Array(bytes.length);
  for (let start = 0; start < bytes.length; start += BLOCK, counter += 1) {
    const stream = block(key, iv, counter);
    const end = Math.min(BLOCK, bytes.length - start);
    for (let i = 0; i < end; i += 1) out[start + i] = bytes[start + i] ^ stream[i];
  }
  return out;
}

/** One block of the key stream. */
function block(key, iv, counter) {
  const words = view => Array.from({ length: view.byteLength / 4 }, (_, i) => view.getUint32(4 * i, true));
  const initial = Uint32Array.from([
    0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
    ...words(viewOf(key)), counter, ...words(viewOf(iv)),
  ]);
  const state = initial.slice();
  for (let round = 0; round < 10; round += 1) {
    quarter(state, 0, 4, 8, 12);
    quarter(state, 1, 5, 9, 13);
    quarter(state, 2, 6, 10, 14);
    quarter(state, 3, 7, 11, 15);
    quarter(state, 0, 5, 10, 15);
    quarter(state, 1, 6, 11, 12);
    quarter(state, 2, 7, 8, 13);
    quarter(state, 3, 4, 9, 14);
  }
  const out = new Uint8Array(BLOCK);
  const view = viewOf(out);
  state.forEach((word, i) => view.setUint32(4 * i, word + initial[i], true));
  return out;
}

function quarter(s, a, b, c, d) {
  s[a] += s[b]; s[d] = rotate(s[d] ^ s[a], 16);
  s[c] += s[d]; s[b] = rotate(s[b] ^ s[c], 12);
  s[a] += s[b]; s[d] = rotate(s[d] ^ s[a], 8);
  s[c] += s[d]; s[b] = rotate(s[b] ^ s[c], 7);
}

function rotate(word, bits) {
  return (word << bits) | (word >>> (32 - bits));
}

function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The tag over associated data and ciphertext, under a key of the first block. */
function tag(key, iv, aad, cipher) {
  const lengths = new Uint8Array(16);
  const view = viewOf(lengths);
  view.setBigUint64(0, BigInt(aad.length), true);
  view.setBigUint64(8, BigInt(cipher.length), true);
  return poly1305(block(key, iv, 0).subarray(0, 32), concat(aad, padding(aad), cipher, padding(cipher), lengths));
}

function padding(bytes) {
  return new Uint8Array((16 - (bytes.length % 16)) % 16);
}

function poly1305(key, message) {
  const prime = (1n << 130n) - 5n;
  const r = number(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  const s = number(key.subarray(16, 32));
  let sum = 0n;
  for (let start = 0; start < message.length; start += 16) {
    const part = message.subarray(start, start + 16);
    sum = ((sum + number(part) + (1n << BigInt(8 * part.length))) * r) % prime;
  }
  sum += s;
  return Uint8Array.from({ length: TAG }, (_, i) => Number((sum >> BigInt(8 * i)) & 0xffn));
}

/** Little-endian. */
function number(bytes) {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i -= 1) value = (value << 8n) | BigInt(bytes[i]);
  return value;
}
