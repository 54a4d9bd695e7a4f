/** Deliveries of webhooks, checked against another implementation of their specification too. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Webhook as Independent } from "standardwebhooks";

import { SealingKey, WebhookError, WebhookVerifier } from "../dist/index.js";
import { seal } from "../dist/sealing.js";

const { deliveries } = JSON.parse(readFileSync(new URL("../../../crates/client/webhooks.json", import.meta.url), "utf8"));
const SECRET = `whsec_${Buffer.from(Uint8Array.from({ length: 32 }, (_, n) => n)).toString("base64")}`;
const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const EVENT = { id: ID, seq: 4, type: "newer", createdAt: "2026-02-07T09:05:00Z", data: { idCard: "x" } };
const NOW = 1_770_455_100_000;

for (const { about, fault, secrets, headers, body, now, id } of deliveries) {
  test(`a delivery with ${about} is ${fault ? "refused" : "taken"}`, async () => {
    const verifier = new WebhookVerifier(secrets, { clock: () => now * 1_000 });
    if (fault) {
      // `Headers` holds Latin-1 alone; what Node hands on may be anything.
      const isLatin1 = !/[^\0-\xff]/.test(Object.values(headers).join(""));
      const refused = await verifier.verify(isLatin1 ? new Headers(headers) : headers, Buffer.from(body)).catch((error) => error);
      assert.ok(refused instanceof WebhookError);
      assert.equal(refused.reason, fault);
    } else assert.equal((await verifier.verify(headers, body)).id, id);
  });
}

function signed(body) {
  const timestamp = String(NOW / 1_000);
  const signature = new Independent(SECRET).sign(ID, new Date(NOW), body);
  return { "webhook-id": ID, "Webhook-Timestamp": timestamp, "webhook-signature": signature };
}

test("signatures of another implementation are right", async () => {
  const body = JSON.stringify(EVENT);
  const verifier = new WebhookVerifier(SECRET, { clock: () => NOW });
  assert.deepEqual(await verifier.verify(signed(body), body), EVENT);
});

test("a sealed event is opened", async () => {
  const key = new SealingKey(new Uint8Array(8), new Uint8Array(32));
  const sealed = await seal(key, { direction: "evt", nonce: ID }, NOW / 1_000, JSON.stringify(EVENT.data));
  const { data, ...others } = EVENT;
  const body = JSON.stringify({ ...others, sealed });
  const clock = () => NOW;
  const event = await new WebhookVerifier(SECRET, { clock, sealingKey: key }).verify(signed(body), body);
  assert.deepEqual(event.data, data);
  await assert.rejects(new WebhookVerifier(SECRET, { clock }).verify(signed(body), body), /no sealing key/);
  const newer = new SealingKey(new Uint8Array(8).fill(5), new Uint8Array(32));
  const unknown = "sealed under key 0000000000000000, which this verifier does not have: was the sealing key rotated?";
  const refused = await new WebhookVerifier(SECRET, { clock, sealingKey: newer })
    .verify(signed(body), body)
    .catch((error) => error);
  assert.ok(refused instanceof WebhookError && refused.reason === "sealed" && refused.message.includes(unknown), refused);
  const both = new WebhookVerifier(SECRET, { clock, sealingKey: newer, alsoOpenWith: [key] });
  assert.deepEqual((await both.verify(signed(body), body)).data, data);
});

test("with a sealing key an event in clear is refused", async () => {
  const sealingKey = new SealingKey(new Uint8Array(8), new Uint8Array(32));
  const clock = () => NOW;
  for (const sealed of [{}, { sealed: null }, { sealed: false }, { sealed: "s1.x" }, { sealed: {} }]) {
    const body = JSON.stringify({ ...EVENT, ...sealed });
    const refused = await new WebhookVerifier(SECRET, { clock, sealingKey }).verify(signed(body), body).catch((error) => error);
    assert.ok(refused instanceof WebhookError && refused.reason === "sealed", body);
  }
  const body = JSON.stringify(EVENT);
  const toldOtherwise = new WebhookVerifier(SECRET, { clock, sealingKey, requireSealed: false });
  assert.deepEqual(await toldOtherwise.verify(signed(body), body), EVENT);
});

test("a stranger causes no other error", async () => {
  const body = JSON.stringify(EVENT);
  const good = signed(body);
  const sealingKey = new SealingKey(new Uint8Array(8), new Uint8Array(32));
  const reasonOf = async (verifier, headers, bytes) => {
    const refused = await verifier.verify(headers, bytes).catch((error) => error);
    assert.ok(refused instanceof WebhookError, `${JSON.stringify(headers)}: ${refused}`);
    return refused.reason;
  };
  // As servers decode what is not ASCII, and what else a header may hold.
  const odd = ["\udcff", "\u00ff", "\ud800", "ё", "\0", "", " ", "-1", "1e3", "٣", "9".repeat(400), "v1,", "v1,\udcff", "v1,=", "v1,ё", ["a", "b"], undefined];
  for (const verifier of [new WebhookVerifier(SECRET, { clock: () => NOW }), new WebhookVerifier(SECRET, { clock: () => NOW, sealingKey })]) {
    for (const name of Object.keys(good)) {
      for (const value of odd) {
        assert.match(await reasonOf(verifier, { ...good, [name]: value }, body), /^(header|timestamp|signature)$/);
      }
    }
    for (const bytes of ["", "\ud800", Uint8Array.of(0xff, 0xfe), new Uint8Array(), "[".repeat(100_000), undefined, null, {}, [], 7]) {
      assert.match(await reasonOf(verifier, good, bytes), /^(body|signature)$/);
    }
  }
});

test("secrets have a form", () => {
  for (const secrets of [[], "", "whsec_", ["whsec_?"], ["whsec_AQE="], [SECRET.slice(6)]]) assert.throws(() => new WebhookVerifier(secrets), { name: "ConfigError" });
});
