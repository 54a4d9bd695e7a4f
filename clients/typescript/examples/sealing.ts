/** Seals one body step by step, without the client, and shows every figure on the way. Runs in Node. */

import { createCipheriv, hkdfSync } from "node:crypto";

// A real call takes its own sealing key, the time of now, and 16 random bytes for the salt.
const SEALING_KEY = "sk_obLD1OX2BxgAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw";
const TIME = 1_767_225_600n;
const SALT = Buffer.from("cf3813724d09ad20f30b512203b70ddc", "hex");

const NONCE = "3f2a9c51e7d84b0fa6c2d1e45b907788";
const METHOD = "POST";
const PATH = "/v1/get_access_token";
const SLOT = "body";
const PLAINTEXT = '{"login":"partner-1","password":"correct horse battery staple"}';

/** How many pieces, then each with its length. */
function pae(...pieces: (Uint8Array | string)[]): Uint8Array {
  const le64 = (count: number): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(count));
    return bytes;
  };
  const encoded = pieces.map((piece) => Buffer.from(piece)).flatMap((piece) => [le64(piece.length), piece]);
  return Buffer.concat([le64(pieces.length), ...encoded]);
}

function show(name: string, value: Uint8Array): void {
  console.log(`${name}\n  ${Buffer.from(value).toString("hex")}`);
}

// The sealing key is the name of the key, 8 bytes, and its secret, 32 bytes.
const rawKey = Buffer.from(SEALING_KEY.slice(3), "base64url");
const [keyId, secret] = [rawKey.subarray(0, 8), rawKey.subarray(8)];

// 1. The header: suite, key, time, salt.
const time = Buffer.alloc(8);
time.writeBigUInt64BE(TIME);
const header = Buffer.concat([Uint8Array.of(0x01), keyId, time, SALT]);
show("header", header);

// 2. The padding: 0x80, then zeros up to a multiple of 32 bytes.
const plaintext = Buffer.from(PLAINTEXT);
const padded = Buffer.alloc(Math.ceil((plaintext.length + 1) / 32) * 32);
padded.set(plaintext);
padded[plaintext.length] = 0x80;
show("padded", padded);

// 3. Key and IV for this value alone.
const info = pae("pcs1", "req", NONCE, SLOT);
const derived = Buffer.from(hkdfSync("sha256", secret, SALT, info, 44));
const [key, iv] = [derived.subarray(0, 32), derived.subarray(32)];
show("info", info);
show("key", key);
show("iv", iv);

// 4. The ciphertext and its tag, bound to the call.
const aad = pae("pcs1", header, METHOD, PATH);
const cipher = createCipheriv("chacha20-poly1305", key, iv, { authTagLength: 16 });
cipher.setAAD(aad, { plaintextLength: padded.length });
const sealed = Buffer.concat([cipher.update(padded), cipher.final(), cipher.getAuthTag()]);
show("aad", aad);
show("ciphertext and tag", sealed);

// 5. The text.
console.log(`text\n  s1.${Buffer.concat([header, sealed]).toString("base64url")}`);
