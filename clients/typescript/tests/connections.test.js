/** TLS that cannot be, addresses and credentials that cannot work, and clocks that differ. */

import assert from "node:assert/strict";
import { createServer as createPlainServer } from "node:net";
import { test } from "node:test";
import { createServer } from "node:tls";

import { Client, ConfigError, InvalidError, SealingError, SealingKey, TlsError } from "../dist/index.js";
import { boundPath, seal } from "../dist/sealing.js";
import { cert, key } from "./certificate.js";
import { pair, stub } from "./stub.js";

const KEY = SealingKey.parse(`sk_${Buffer.from([...Array(8).fill(1), ...Array(32).fill(2)]).toString("base64url")}`);

/** The fault of the first call to a server, and how often that was tried. */
async function tlsFault(t, server, event, scheme = "https") {
  let tries = 0;
  server.on(event, () => tries++);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  const baseUrl = `${scheme}://127.0.0.1:${server.address().port}`;
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

test("http against https is named at once", async (t) => {
  // What OpenSSL and rustls answer to plain HTTP: the alert `protocol_version`.
  const alert = Uint8Array.of(0x15, 3, 3, 0, 2, 2, 0x46);
  const server = createPlainServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(alert));
  });
  assert.match(await tlsFault(t, server, "connection", "http"), /if it speaks TLS, the base URL has to start with https:/);
});

const CREDENTIALS = { apiKey: "k", login: "l", password: "p" };

test("a closed port is named", async () => {
  const server = createPlainServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  const gone = Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:3128"), { code: "ECONNREFUSED" }),
  });
  for (const [baseUrl, fetch, said] of [
    [`http://127.0.0.1:${port}`, undefined, `at http://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`],
    ["http://kopeck.invalid", () => Promise.reject(gone), "at http://kopeck.invalid: connect ECONNREFUSED 127.0.0.1:3128"],
  ]) {
    const client = new Client({ baseUrl, ...CREDENTIALS, ...(fetch && { fetch }), retry: { maxRetries: 0 } });
    await assert.rejects(client.balance(), { message: `the service could not be reached ${said}`, sent: false });
  }
});

test("a base URL may be pasted with what surrounds it", async (t) => {
  const body = { balance: 1, hold: 0, available: 1, updatedAt: "07.02.2026 09:05" };
  const { url, seen } = await stub(t, ({ method }) => (method === "GET" ? { body } : pair(1)));
  for (const [before, after] of [["", "/"], ["", "/v1"], ["", "/v1/"], [" ", "\r\n"], ["\uFEFF", "/base/v1\n"]]) {
    await new Client({ ...CREDENTIALS, baseUrl: before + url + after }).balance();
  }
  const paths = seen.filter(({ method }) => method === "GET").map(({ path }) => path);
  assert.deepEqual([...new Set(paths)], ["/v1/balance", "/base/v1/balance"]);
  for (const baseUrl of ["127.0.0.1:8080", "localhost:8080", "api.example.com/v1"]) {
    assert.throws(() => new Client({ ...CREDENTIALS, baseUrl }), /has to start with http:\/\/ or https:\/\//);
  }
});

test("credentials that were pasted with more are refused before they are sent", () => {
  for (const name of ["login", "password"]) {
    for (const [text, what] of [
      ["hunter2\r", "control"], ["hunter2\n", "control"], ["\thunter2", "control"], ["hunter2\x7f", "control"],
      ["\uFEFFhunter2", "byte-order"],
    ]) {
      assert.throws(() => new Client({ baseUrl: "http://localhost", ...CREDENTIALS, [name]: text }), (error) => {
        assert.ok(error instanceof ConfigError && error.message.startsWith(`the ${name} `), error);
        return error.message.includes(what) && !error.message.includes("hunter2");
      });
    }
  }
});

test("what is no uuid or month is named", async (t) => {
  const { client, calls } = await stub(t, () => assert.fail("nothing is sent"));
  const { employees, cards, orders, replenishments, statements } = client();
  for (const [call, said] of [
    [() => employees.get("T-0001"), /^idEmployee: .*employees\.list\(\{ customId \}\)$/],
    [() => cards.info("9201709941"), /^idCard: this is no uuid with its hyphens$/],
    [() => orders.status("x"), /^orderId: /],
    [() => replenishments.cancel("x"), /^replenishmentId: /],
    [() => statements.month(new Date()), /YYYY-MM/],
  ]) {
    await assert.rejects(async () => call(), (error) => error instanceof ConfigError && said.test(error.message));
  }
  assert.equal(calls().length, 0);
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
