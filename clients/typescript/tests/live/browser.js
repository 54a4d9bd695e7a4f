/** Checks the vectors and plays the shared scenario in a browser, and reports to the proxy that served the page. */

import { open, SealingKey } from "../../dist/sealing.js";
import { play } from "./scenario.js";

const json = async (path) => (await fetch(path)).json();
const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));

async function opens(name) {
  const opened = [];
  for (const one of await json(`/page/crates/sealing/tests/data/${name}`)) {
    const { direction, method, path, x_nonce: nonce, slot, status, clear } = one;
    // The context of an event has no path to move an event to.
    if (direction === "evt" && path !== "/") continue;
    const contexts = { req: { method, path, nonce, slot, clear }, res: { method, path, nonce, status }, evt: { direction, nonce } };
    const context = contexts[direction];
    const key = new SealingKey(bytes(one.kid), bytes(one.secret));
    const text = await open(key, context, one.ts ?? one.now, one.text).catch(() => undefined);
    opened.push(text === one.plaintext && text !== undefined);
  }
  return opened;
}

async function check() {
  const vectors = await opens("vectors.json");
  if (vectors.length === 0 || !vectors.every(Boolean)) throw new Error(`vectors: ${vectors}`);
  const forgeries = await opens("forgeries.json");
  if (forgeries.length === 0 || forgeries.some(Boolean)) throw new Error(`forgeries: ${forgeries}`);
  const partners = await json("/control/partners");
  await play({ url: location.origin, ...partners });
}

const failure = await check().then(
  () => null,
  (error) => `${error.stack ?? error}`,
);
await fetch("/control/report", { method: "POST", body: JSON.stringify({ failure, agent: navigator.userAgent }) });
