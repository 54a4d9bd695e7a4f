/** ChaCha20-Poly1305 (RFC 8439, 2.8): Node's own where it is, else ours. WebCrypto has it in few browsers yet. */

import { type Bytes, concat, equal } from "./bytes.js";
import { chacha20 } from "./chacha20.js";
import { poly1305 } from "./poly1305.js";

const TAG = 16;
/** What Node calls it. */
const NAME = "chacha20-poly1305";

export interface Aead {
  /** Ciphertext and tag. */
  encrypt(key: Bytes, iv: Bytes, associated: Bytes, plaintext: Bytes): Bytes;
  /** The plaintext; `undefined` if the tag is not that of key, iv, associated data and ciphertext. */
  decrypt(key: Bytes, iv: Bytes, associated: Bytes, sealed: Bytes): Bytes | undefined;
}

/** The cipher in plain TypeScript. */
export const portable: Aead = {
  encrypt(key, iv, associated, plaintext) {
    const ciphertext = chacha20(key, iv, 1, plaintext);
    return concat(ciphertext, tagOf(key, iv, associated, ciphertext));
  },
  decrypt(key, iv, associated, sealed) {
    const ciphertext = sealed.subarray(0, -TAG);
    const found = sealed.subarray(-TAG);
    return equal(tagOf(key, iv, associated, ciphertext), found) ? chacha20(key, iv, 1, ciphertext) : undefined;
  },
};

/** The cipher of Node, if this is a Node that tells of it. */
export function native(): Aead | undefined {
  // Not imported, so that bundlers for browsers find nothing to stumble over.
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const crypto = process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined;
  if (!crypto?.getCiphers?.().includes(NAME)) return undefined;
  return {
    encrypt(key, iv, associated, plaintext) {
      const cipher = crypto.createCipheriv(NAME, key, iv, { authTagLength: TAG });
      cipher.setAAD(associated, { plaintextLength: plaintext.length });
      return concat(cipher.update(plaintext), cipher.final(), cipher.getAuthTag());
    },
    decrypt(key, iv, associated, sealed) {
      const ciphertext = sealed.subarray(0, -TAG);
      const decipher = crypto.createDecipheriv(NAME, key, iv, { authTagLength: TAG });
      decipher.setAAD(associated, { plaintextLength: ciphertext.length });
      decipher.setAuthTag(sealed.subarray(-TAG));
      const plaintext = decipher.update(ciphertext);
      try {
        return concat(plaintext, decipher.final());
      } catch {
        return undefined;
      }
    },
  };
}

export const aead: Aead = native() ?? portable;

/** What is used of `node:crypto`. */
interface NodeCrypto {
  getCiphers(): string[];
  createCipheriv(name: string, key: Bytes, iv: Bytes, options: { authTagLength: number }): NodeCipher;
  createDecipheriv(name: string, key: Bytes, iv: Bytes, options: { authTagLength: number }): NodeCipher;
}

interface NodeCipher {
  setAAD(data: Bytes, options: { plaintextLength: number }): void;
  setAuthTag(tag: Bytes): void;
  getAuthTag(): Bytes;
  update(data: Bytes): Bytes;
  final(): Bytes;
}

function tagOf(key: Bytes, iv: Bytes, associated: Bytes, ciphertext: Bytes): Bytes {
  const oneTimeKey = chacha20(key, iv, 0, new Uint8Array(32));
  const lengths = new DataView(new ArrayBuffer(16));
  lengths.setBigUint64(0, BigInt(associated.length), true);
  lengths.setBigUint64(8, BigInt(ciphertext.length), true);
  const message = concat(
    associated,
    zeros(associated.length),
    ciphertext,
    zeros(ciphertext.length),
    new Uint8Array(lengths.buffer),
  );
  return poly1305(oneTimeKey, message);
}

/** What fills a length up to a multiple of 16. */
function zeros(length: number): Bytes {
  return new Uint8Array((16 - (length % 16)) % 16);
}
