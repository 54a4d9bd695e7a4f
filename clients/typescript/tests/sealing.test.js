/** The format, against the vectors and forgeries that all implementations share. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { decodeBase64url, encodeBase64url } from "../dist/bytes.js";
import { ConfigError, SealingError } from "../dist/index.js";
import { boundPath, keyIdOf, open, seal, SealingKey } from "../dist/sealing.js";

const data = (name) => JSON.parse(readFileSync(new URL(`../../../crates/sealing/tests/data/${name}`, import.meta.url)));
const bytes = (text) => new Uint8Array(Buffer.from(text, "hex"));

const KEY = new SealingKey(new Uint8Array(8).fill(7), new Uint8Array(32).fill(8));
const nonce = "3f2a9c51e7d84b0fa6c2d1e45b907788";
const NOW = 1_767_225_600;

function callOf(given) {
  const { method, path, x_nonce: nonce, slot, status } = given;
  // Backwards, so that the order of giving them is seen not to matter.
  const contexts = {
    req: { method, path, nonce, slot, clear: [...given.clear].reverse() },
    res: { method, path, nonce, status },
    evt: { direction: "evt", nonce },
  };
  const context = contexts[given.direction];
  return { key: new SealingKey(bytes(given.kid), bytes(given.secret)), context };
}

test("every vector is sealed and opened", async () => {
  const vectors = data("vectors.json");
  assert.equal(vectors.length, 18);
  for (const vector of vectors) {
    const { key, context } = callOf(vector);
    const text = await seal(key, context, vector.ts, vector.plaintext, bytes(vector.salt));
    assert.equal(text, vector.text, vector.name);
    assert.equal(await open(key, context, vector.ts, text), vector.plaintext, vector.name);
    assert.equal(Buffer.from(keyIdOf(text)).toString("hex"), vector.kid);
  }
});

test("no forgery opens", async () => {
  const forgeries = data("forgeries.json");
  assert.equal(forgeries.length, 45);
  // The context of an event has no path to move an event to.
  const [moved, ...others] = forgeries.filter(({ direction, path }) => direction === "evt" && path !== "/");
  assert.deepEqual([moved.why, others], ["an event moved to a path", []]);
  for (const forgery of forgeries.filter((forgery) => forgery !== moved)) {
    const { key, context } = callOf(forgery);
    await assert.rejects(open(key, context, forgery.now, forgery.text), SealingError, forgery.why);
  }
});

test("no changed character opens", async () => {
  const [vector] = data("vectors.json");
  const { key, context } = callOf(vector);
  for (let i = 0; i < vector.text.length; i++) {
    const other = vector.text[i] === "A" ? "B" : "A";
    const text = vector.text.slice(0, i) + other + vector.text.slice(i + 1);
    await assert.rejects(open(key, context, vector.ts, text), SealingError, `character ${i}`);
  }
});

test("what is sealed opens, whatever its length", async () => {
  const context = { method: "POST", path: "/v1/category", nonce, slot: "body" };
  for (let length = 0; length < 70; length++) {
    const plaintext = "ж".repeat(length) + "\0".repeat(length % 3);
    assert.equal(await open(KEY, context, NOW, await seal(KEY, context, NOW, plaintext)), plaintext);
  }
});

test("the window ends after 300 seconds, and the status is bound", async () => {
  const context = { method: "GET", path: "/v1/balance", nonce, status: 200 };
  const text = await seal(KEY, context, NOW, "{}");
  for (const inside of [NOW - 300, NOW + 300]) assert.equal(await open(KEY, context, inside, text), "{}");
  for (const outside of [0, NOW - 301, NOW + 301]) await assert.rejects(open(KEY, context, outside, text), SealingError);
  await assert.rejects(open(KEY, { ...context, status: 404 }, NOW, text), SealingError);
});

test("a parameter may have 512 characters", async () => {
  const context = { method: "GET", path: "/v1/card/*", nonce, slot: "path:idCard" };
  await assert.rejects(open(KEY, context, NOW, await seal(KEY, context, NOW, "x".repeat(400))), /too long/);
});

test("paths are bound without query, slash and sealed segments", () => {
  for (const [called, bound] of [
    ["/v1/employees", "/v1/employees"],
    ["/v1/order/confirm/", "/v1/order/confirm"],
    ["/v1/replenishment/status/?idReplenishment=s1.abc", "/v1/replenishment/status"],
    ["/v1/card/s1.AaGy/transactions?page=2", "/v1/card/*/transactions"],
  ]) {
    assert.equal(boundPath(called), bound);
  }
});

test("a key is read from its text", async () => {
  const text = `sk_${encodeBase64url(bytes("07".repeat(8) + "08".repeat(32)))}`;
  const key = SealingKey.parse(text);
  assert.equal(String(key), "SealingKey(0707070707070707)");
  const context = { method: "GET", path: "/v1/balance", nonce, status: 200 };
  assert.equal(await open(key, context, NOW, await seal(KEY, context, NOW, "{}")), "{}");
  assert.ok(decodeBase64url(text.slice(3)));
  for (const bad of ["", "sk_", `sk_${"A".repeat(53)}`, `sk_${"A".repeat(55)}`, "AAAA"]) {
    assert.throws(() => SealingKey.parse(bad), ConfigError);
  }
});
