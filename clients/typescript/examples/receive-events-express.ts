/**
 * Receives the events of a webhook with Express, and handles each once.
 *
 *     npm install express
 *     KOPECK_WEBHOOK_SECRET=whsec_… KOPECK_SEALING_KEY=sk_… PORT=8000 node examples/receive-events-express.ts
 */

import type { AddressInfo } from "node:net";

import express from "express";
import { WebhookError, WebhookVerifier } from "kopeck";

const secret = process.env["KOPECK_WEBHOOK_SECRET"];
if (!secret) throw new Error("KOPECK_WEBHOOK_SECRET is not set");
// With the key it opens sealed events, and refuses all others. Without one it takes those of a webhook with `sealed: false`.
const verifier = new WebhookVerifier(secret, { sealingKey: process.env["KOPECK_SEALING_KEY"] });
// In a real receiver a table with a unique index, written in the transaction of what an event brings about.
const seen = new Set<string>();

const app = express();
// The body as it came: JSON that was read and written again has another signature.
app.post("/kopeck", express.raw({ type: "application/json" }), async (request, response) => {
  try {
    const event = await verifier.verify(request.headers, request.body as Uint8Array);
    if (!seen.has(event.id)) {
      console.log(event.type, JSON.stringify(event.data));
      // Last: an event that could not be handled has to come again.
      seen.add(event.id);
    }
    response.status(204).end();
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    response.status(400).send(error.message);
  }
});

const server = app.listen(Number(process.env["PORT"] ?? 8000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/kopeck`);
});
