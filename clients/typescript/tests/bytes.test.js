/** Texts of bytes, and their order. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";

import { compare, decodeBase64url, encodeBase64url, utf8 } from "../dist/bytes.js";

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
  // In UTF-16 the first of these would come last.
  assert.ok(compare(utf8("\uffee"), utf8("\u{1f600}")) < 0);
  assert.ok(compare(utf8("a"), utf8("ab")) < 0);
});
