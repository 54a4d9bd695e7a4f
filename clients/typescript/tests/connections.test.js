/** TLS that cannot be, and clocks that differ. */

import assert from "node:assert/strict";
import { createServer as createPlainServer } from "node:net";
import { test } from "node:test";
import { createServer } from "node:tls";

import { Client, InvalidError, SealingError, SealingKey, TlsError } from "../dist/index.js";
import { boundPath, seal } from "../dist/sealing.js";
import { cert, key } from "./certificate.js";
import { stub } from "./stub.js";

const KEY = SealingKey.parse(`sk_${Buffer.from([...Array(8).fill(1), ...Array(32).fill(2)]).toString("base64url")}`);

/** The fault of the first call to a server, and how often that was tried. */
async function tlsFault(t, server, event) {
  let tries = 0;
  server.on(event, () => tries++);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  const baseUrl = `https://127.0.0.1:${server.address().port}`;
  const client = new Client({ baseUrl, apiKey: "k", login: "l", password: "p", retry: { minDelayMs: 0, maxDelayMs: 0 } });
  const error = await client.balance().then(assert.fail, (reason) => reason);
  assert.ok(error instanceof TlsError, `${error} ${error.cause?.cause?.code}`);
  assert.deepEqual([error.isTransient, error.mayHaveHappened, error.sent, tries], [false, false, false, 1]);
  return error.message;
}

test("a certificate that is not accepted is named at once", async (t) => {
  const server = createServer({ cert, key }).on("tlsClientError", () => undefined);
  assert.match(await tlsFault(t, server, "connection"), /certificate is not accepted: self-signed certificate/);
});

test("https against http is named at once", async (t) => {
  const server = createPlainServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"));
  });
  assert.match(await tlsFault(t, server, "connection"), /does not speak TLS at this address.*http:/);
});

const dated = (offset) => ({ date: new Date(Date.now() + offset * 1_000).toUTCString() });
const refused = (offset, field) => ({
  status: 422,
  body: { success: false, data: [{ field, message: "incorrect value passed" }] },
  headers: dated(offset),
});

test("a clock that is off is named beside the refusal of a sealed value", async (t) => {
  for (const [offset, said] of [
    [1_000, /your clock is (999|1000|1001) s behind the service's/],
    [-400, /your clock is (399|400|401) s ahead of the service's/],
  ]) {
    const { client } = await stub(t, () => refused(offset, "body"), () => refused(offset, "body"));
    await assert.rejects(client({ sealingKey: KEY }).balance(), (error) => {
      assert.ok(error instanceof InvalidError);
      assert.match(error.message, said);
      return true;
    });
  }
});

test("a refusal that has nothing to do with clocks names none", async (t) => {
  const { client: clear } = await stub(t, () => refused(1_000, "phone"));
  await assert.rejects(clear().balance(), (error) => !/clock/.test(error.message));
  const { client } = await stub(t, () => refused(200, "phone"), () => refused(200, "phone"));
  await assert.rejects(client({ sealingKey: KEY }).balance(), (error) => !/clock/.test(error.message));
});

test("a clock that is off is named where an answer cannot be opened", async (t) => {
  const late = async ({ method, target, headers }) => {
    const context = { method, path: boundPath(target), nonce: headers["x-nonce"], status: 200 };
    const sealed = await seal(KEY, context, Math.floor(Date.now() / 1_000) + 1_000, "{}");
    return { body: { sealed }, headers: { "content-type": "application/sealed+json", ...dated(1_000) } };
  };
  const { client } = await stub(t, late, late);
  await assert.rejects(client({ sealingKey: KEY }).balance(), (error) => {
    assert.ok(error instanceof SealingError);
    assert.match(error.message, /your clock is (999|1000|1001) s behind the service's/);
    return true;
  });
});
