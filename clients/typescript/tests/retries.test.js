/** A call tried again is the same call under the same key; waiting, calling off, errors. */

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { inspect } from "node:util";

import {
  ApiError,
  CallTimeoutError,
  CardsError,
  Client,
  ConfigError,
  DecodeError,
  InvalidError,
  TransportError,
  UnfinishedError,
  newKey,
} from "../dist/index.js";
import { DEFAULT_RETRY, delayBefore } from "../dist/retry.js";
import { CUT, inTurn, stub } from "./stub.js";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const CATEGORY = { status: 201, body: { idCategory: ID, nameCategory: "Лекторы" } };
const BUSY = { status: 503, body: { success: false, code: "bank_unavailable", message: "later" } };
const LATE = { status: 408, body: { success: false, code: "request_timeout", message: "the body did not arrive in time" } };
const IN_PROGRESS = { status: 409, body: { code: "request_in_progress", message: "wait" }, headers: { "retry-after": "0" } };

async function failure(promise, kind) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof kind, inspect(error));
    return error;
  }
  assert.fail("it succeeded");
}

/** An address that does not respond; `listening` says whether it accepts connections. */
async function silent(t, listening) {
  const sockets = new Set();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  };
  if (listening) t.after(close);
  else await close();
  return { baseUrl, apiKey: "k", login: "l", password: "p", retry: { maxRetries: 0 } };
}

test("fresh keys begin with the time", (t) => {
  t.mock.method(Date, "now", () => 1_790_000_000_123);
  const keys = [newKey(), newKey()];
  for (const key of keys) {
    assert.match(key, /^[0-9a-f]{32}$/);
    assert.equal(Number.parseInt(key.slice(0, 12), 16), 1_790_000_000_123);
  }
  assert.notEqual(keys[0], keys[1]);
});

test("every retry keeps the key and takes a new nonce", async (t) => {
  for (const first of [
    [CUT, BUSY, IN_PROGRESS, { status: 500, body: "oops" }],
    [LATE, { status: 408, body: "<h1>Timeout</h1>" }, BUSY, LATE],
  ]) {
    const { client, calls } = await stub(t, inTurn(first, CATEGORY));
    assert.equal((await client().categories.create("Лекторы")).nameCategory, "Лекторы");
    const headers = (name) => new Set(calls().map((call) => call.headers[name]));
    assert.equal(calls().length, 5);
    assert.equal(headers("x-nonce").size, 5);
    assert.equal(headers("idempotency-key").size, 1);
    assert.deepEqual(new Set(calls().map(({ body }) => body)), new Set(['{"nameCategory":"Лекторы"}']));
  }
});

test("each call has a key of its own unless given one", async (t) => {
  const { client, calls } = await stub(t, () => CATEGORY);
  const { categories } = client();
  await categories.create("a");
  await categories.create("a");
  await categories.create("a", { idempotencyKey: "payroll-7" });
  const [first, second, third] = calls().map(({ headers }) => headers["idempotency-key"]);
  assert.notEqual(first, second);
  assert.equal(third, "payroll-7");
  for (const idempotencyKey of ["", "with space", "ключ", "a".repeat(256), "a\n"]) {
    await assert.rejects(categories.create("a", { idempotencyKey }), ConfigError);
  }
});

test("retries end, and the error has the key to go on with", async (t) => {
  const { client, calls } = await stub(t, () => BUSY);
  const error = await failure(client().categories.create("a"), ApiError);
  assert.deepEqual([error.code, error.isTransient, calls().length], ["bank_unavailable", true, 5]);
  assert.deepEqual(new Set(calls().map(({ headers }) => headers["idempotency-key"])), new Set([error.idempotencyKey]));
});

test("what will not pass is not retried", async (t) => {
  for (const [status, body] of [
    [409, { code: "category_exists", message: "no" }],
    [404, { code: "not_found", message: "no" }],
    [422, { data: [{ field: "nameCategory", message: "incorrect value passed" }] }],
  ]) {
    const { client, calls } = await stub(t, () => ({ status, body }));
    const error = await failure(client().categories.create("a"), ApiError);
    assert.deepEqual([error.status, calls().length], [status, 1]);
  }
});

test("a Retry-After is obeyed or ends the call", async (t) => {
  const policy = { ...DEFAULT_RETRY, minDelayMs: 100, maxDelayMs: 1_000, maxRetryAfterMs: 30_000 };
  const asking = (retryAfterMs) => new ApiError(429, undefined, "", { retryAfterMs });
  assert.equal(delayBefore(policy, 0, asking(7_000)), 7_000);
  assert.equal(delayBefore(policy, 0, asking(31_000)), undefined);
  assert.equal(delayBefore(policy, 4, asking(7_000)), undefined);
  [100, 200, 400, 800].forEach((base, retry) => {
    const delay = delayBefore(policy, retry, new CallTimeoutError(""));
    assert.ok(base <= delay && delay <= 2 * base);
  });
  const tooLong = { status: 429, body: { code: "too_many_requests", message: "wait" }, headers: { "retry-after": "900" } };
  const { client, calls } = await stub(t, () => tooLong);
  const error = await failure(client().categories.create("a"), ApiError);
  assert.deepEqual([error.retryAfterMs, calls().length], [900_000, 1]);
});

test("a service that is not there was not sent anything", async (t) => {
  const error = await failure(new Client(await silent(t, false)).balance(), TransportError);
  assert.equal(error.sent, false);
});

test("a silent service times out", async (t) => {
  await failure(new Client({ ...(await silent(t, true)), timeoutMs: 50 }).balance(), CallTimeoutError);
});

test("a call that is called off rejects with the signal's reason", async (t) => {
  const reason = new Error("enough");
  const early = new Client(await silent(t, true));
  await assert.rejects(early.balance({ signal: AbortSignal.abort(reason) }), reason);

  const controller = new AbortController();
  const { client, calls } = await stub(t, () => new Promise(() => setImmediate(() => controller.abort(reason))));
  await assert.rejects(client().balance({ signal: controller.signal }), reason);
  assert.equal(calls().length, 1);

  const between = new AbortController();
  const busy = await stub(t, () => (setImmediate(() => between.abort(reason)), BUSY));
  const patient = busy.client({ retry: { minDelayMs: 3_600_000, maxDelayMs: 3_600_000 } });
  await assert.rejects(patient.balance({ signal: between.signal }), reason);
});

test("waiting tells each state until the final one, and gives up with the last", async (t) => {
  const state = (message) => ({ body: { message, orderId: ID } });
  const handler = inTurn([state("ON_HOLD")], state("PART_SUCCESS"));
  const { client } = await stub(t, handler);
  const seen = [];
  assert.equal(await client().orders.wait(ID, { onProgress: (one) => seen.push(one) }), "PART_SUCCESS");
  assert.deepEqual(seen, ["ON_HOLD", "PART_SUCCESS"]);

  const slow = await stub(t, () => state("NEW"));
  const error = await failure(slow.client().orders.wait(ID, { timeoutMs: 0 }), UnfinishedError);
  assert.equal(error.last, "NEW");
});

test("errors say what the service said", async (t) => {
  const refused = async (status, body) => {
    const headers = { "x-request-id": "r-1", "retry-after": "61" };
    const { client } = await stub(t, () => ({ status, body, headers }));
    const error = await failure(client().balance(), ApiError);
    assert.equal(error.requestId, "r-1");
    return error;
  };
  const invalid = await refused(422, {
    success: false,
    data: [
      { field: "phone", message: "incorrect value passed", detail: "not 10 digits" },
      { field: "email", message: "incorrect value passed" },
    ],
  });
  assert.ok(invalid instanceof InvalidError);
  assert.match(invalid.message, /phone: not 10 digits; email: incorrect value passed/);

  const cards = await refused(404, [{ message: "no such card", code: "card_not_found", idCard: ID }, { message: "unknown" }]);
  assert.ok(cards instanceof CardsError);
  assert.deepEqual([cards.code, cards.faults[0].idCard, cards.name], ["card_not_found", ID, "CardsError"]);

  assert.equal((await refused(409, { code: "moon_phase", message: "wait" })).code, "moon_phase");
  assert.equal((await refused(502, "<h1>Bad gateway</h1>\n")).message, "status 502: <h1>Bad gateway</h1>");
  assert.equal((await refused(422, "nonsense")).status, 422);
});

test("a response of another form is reported, and not shown", async (t) => {
  for (const body of ["hush", '["hush"]']) {
    const { client } = await stub(t, () => ({ body }));
    assert.doesNotMatch(inspect(await failure(client().balance(), DecodeError)), /hush/);
  }
});

test("redirects are not followed", async (t) => {
  const { client, url, seen } = await stub(t, () => ({ status: 307, body: "", headers: { location: "/elsewhere" } }));
  assert.equal((await failure(client().balance(), ApiError)).status, 307);
  assert.ok(seen.every(({ path }) => path !== "/elsewhere"), url);
});

test("neither logs nor JSON show secrets", async (t) => {
  const result = { orderId: ID, typeCard: "MLZ", data: [{ customIdCard: "1", activationCode: "hush" }] };
  const { client } = await stub(t, () => ({ body: result }));
  const one = client();
  const things = [one, await one.login(), await one.orders.result(ID)];
  const shown = things.map((thing) => inspect(thing, { depth: 20, showHidden: true }) + JSON.stringify(thing)).join();
  for (const secret of ["ak_test", "hunter2", "access-1", "refresh-1", "hush"]) assert.ok(!shown.includes(secret), secret);
});

test("what is missing or malformed is named", async () => {
  const good = { apiKey: "k", login: "l", password: "p" };
  for (const baseUrl of ["", "localhost", "ftp://localhost", "https://localhost/?x=1", "http://u:p@localhost"]) {
    assert.throws(() => new Client({ ...good, baseUrl }), /base URL/);
  }
  const baseUrl = "http://localhost";
  assert.throws(() => new Client({ ...good, baseUrl, apiKey: "se\ncret" }), (error) => !/cret/.test(error.message));
  assert.throws(() => new Client({ ...good, baseUrl, sealAnswers: true }), /sealing key/);
  assert.throws(() => new Client({ ...good, baseUrl, sealingKey: "sk_" }), ConfigError);
  await assert.rejects(new Client({ ...good, baseUrl }).cards.info("../balance"), ConfigError);
});
