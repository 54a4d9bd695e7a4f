/** The cipher against RFC 8439 and against Node's, and texts of bytes. */

import assert from "node:assert/strict";
import { createCipheriv, randomBytes } from "node:crypto";
import { test } from "node:test";

import { aead, native, portable } from "../dist/crypto/aead.js";
import { compare, decodeBase64url, encodeBase64url, equal, hex, utf8 } from "../dist/crypto/bytes.js";
import { chacha20 } from "../dist/crypto/chacha20.js";
import { poly1305 } from "../dist/crypto/poly1305.js";

const bytes = (text) => Uint8Array.from(text.replace(/[\s:]/g, "").match(/../g) ?? [], (pair) => parseInt(pair, 16));
const count = (from, length) => Uint8Array.from({ length }, (_, i) => from + i);
const CARRIED = `e33594d7505e43b9${"0".repeat(16)}3394d7505e4379cd01${"0".repeat(14)}${"0".repeat(32)}`;
const SUNSCREEN = utf8(
  "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
);

test("RFC 8439, 2.4.2: ChaCha20", () => {
  const encrypted = chacha20(count(0, 32), bytes("000000000000004a00000000"), 1, SUNSCREEN);
  assert.equal(
    hex(encrypted),
    "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b3571639d624e65152ab" +
      "8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab77937365af90bbf74a35be6b40b8eedf2785e42" +
      "874d",
  );
});

test("RFC 8439, 2.5.2 and A.3: Poly1305", () => {
  const key = bytes("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
  assert.equal(hex(poly1305(key, utf8("Cryptographic Forum Research Group"))), "a8061dc1305136c6c22b8baf0c0127a9");
  const edges = [
    // r, s, message, tag: the edges of the arithmetic, the vectors 7 to 11.
    ["02", "", "ff".repeat(16), "03"],
    ["02", "ff".repeat(16), `02${"00".repeat(15)}`, "03"],
    ["01", "", `${"ff".repeat(16)}f0${"ff".repeat(15)}11${"00".repeat(15)}`, "05"],
    ["01", "", `${"ff".repeat(16)}fb${"fe".repeat(15)}${"01".repeat(16)}`, ""],
    ["02", "", `fd${"ff".repeat(15)}`, `fa${"ff".repeat(15)}`],
    ["01000000000000000400000000000000", "", CARRIED + "01".padEnd(32, "0"), "14000000000000005500000000000000"],
    ["01000000000000000400000000000000", "", CARRIED, "13"],
  ];
  const filled = (text) => text.padEnd(32, "0").slice(0, 32);
  for (const [r, s, message, tag] of edges) {
    assert.equal(hex(poly1305(bytes(filled(r) + filled(s)), bytes(message))), filled(tag), message);
  }
});

test("RFC 8439, 2.8.2: ChaCha20-Poly1305", () => {
  const sealed =
    "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b29" +
    "05d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b" +
    "6116" +
    "1ae10b594f09e26a7e902ecbd0600691";
  const [key, iv, associated] = [count(0x80, 32), bytes("070000004041424344454647"), bytes("50515253c0c1c2c3c4c5c6c7")];
  for (const cipher of [portable, aead]) {
    assert.equal(hex(cipher.encrypt(key, iv, associated, SUNSCREEN)), sealed);
    assert.deepEqual(cipher.decrypt(key, iv, associated, bytes(sealed)), SUNSCREEN);
  }
});

test("ours and Node's agree on every length, and on what they refuse", () => {
  for (let length = 0; length < 200; length++) {
    const [key, iv, associated, plaintext] = [32, 12, length % 40, length].map((n) => new Uint8Array(randomBytes(n)));
    const node = createCipheriv("chacha20-poly1305", key, iv, { authTagLength: 16 });
    node.setAAD(associated, { plaintextLength: length });
    const theirs = Buffer.concat([node.update(plaintext), node.final(), node.getAuthTag()]);
    const ours = portable.encrypt(key, iv, associated, plaintext);
    assert.equal(hex(ours), theirs.toString("hex"), `length ${length}`);
    ours[length % ours.length] ^= 1;
    for (const cipher of [portable, native()].filter(Boolean)) {
      assert.equal(cipher.decrypt(key, iv, associated, ours), undefined);
    }
  }
});

test("a Node that tells of its cipher is taken at its word", () => {
  assert.equal(native() !== undefined, typeof process.getBuiltinModule === "function");
});

test("base64url has one encoding of each value", () => {
  for (let length = 0; length < 70; length++) {
    const raw = new Uint8Array(randomBytes(length));
    const text = encodeBase64url(raw);
    assert.equal(text, Buffer.from(raw).toString("base64url"));
    assert.deepEqual(decodeBase64url(text), raw);
  }
  for (const bad of ["A", "AB", "AAB", "AA==", "A+", "A/", "A A", "AA\n", "Жж", "AA\u0141A"]) {
    assert.equal(decodeBase64url(bad), undefined, bad);
  }
});

test("bytes compare as bytes", () => {
  assert.ok(equal(bytes("0102"), bytes("0102")));
  for (const other of ["0103", "01", "010200", ""]) assert.ok(!equal(bytes("0102"), bytes(other)), other);
  // In UTF-16 the first of these would come last.
  assert.ok(compare(utf8("\uffee"), utf8("\u{1f600}")) < 0);
  assert.ok(compare(utf8("a"), utf8("ab")) < 0);
});
