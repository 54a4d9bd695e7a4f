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
      const refused = await verifier.verify(new Headers(headers), Buffer.from(body)).catch((error) => error);
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
});

test("secrets have a form", () => {
  for (const secrets of [[], "", "whsec_", ["whsec_?"], ["whsec_AQE="], [SECRET.slice(6)]]) assert.throws(() => new WebhookVerifier(secrets), { name: "ConfigError" });
});
