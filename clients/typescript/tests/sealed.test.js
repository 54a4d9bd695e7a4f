/** Sealed calls as they go over the wire, and answers that are refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { SealingError } from "../dist/index.js";
import { renderSealed } from "../dist/call.js";
import * as operations from "../dist/operations.js";
import { boundPath, open, seal, SealingKey } from "../dist/sealing.js";
import { stub, TOKEN_PATHS } from "./stub.js";

const keyOf = (id, secret) => new SealingKey(new Uint8Array(8).fill(id), new Uint8Array(32).fill(secret));
const KEY = keyOf(1, 2);
const NEXT = keyOf(3, 4);
const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const EMPTY = { data: [], meta: { current_page: 1, from: null, to: null, total: 0, last_page: 1, per_page: 15 } };
const PAIR = { accessToken: "a", accessExpireAt: 4_000_000_000, refreshToken: "r", refreshExpireAt: 4_100_000_000 };
const now = () => Math.floor(Date.now() / 1_000);

async function sealed({ method, target, headers }, body, { status = 200, key = KEY } = {}) {
  const context = { method, path: boundPath(target), nonce: headers["x-nonce"], status };
  const text = await seal(key, context, now(), JSON.stringify(body));
  return { status, body: { sealed: text }, headers: { "content-type": "application/sealed+json" } };
}

const said = ({ path }) => (TOKEN_PATHS.includes(path) ? PAIR : { ...EMPTY, idCategory: ID, nameCategory: "N" });
const answer = (seen) => sealed(seen, said(seen));

function opened({ method, target, headers }, slot, text) {
  return open(KEY, { method, path: boundPath(target), nonce: headers["x-nonce"], slot }, now(), text);
}

const body = (seen) => opened(seen, "body", JSON.parse(seen.body).sealed);

test("bodies and parameters are sealed", async (t) => {
  const { client, seen } = await stub(t, answer, answer);
  const one = client({ sealingKey: KEY });
  await one.categories.rename(ID, "Ё");
  await one.cards.transactions(ID, { page: 2 });
  const [login, rename, transactions] = seen;
  assert.match(await body(login), /"hunter2"/);
  assert.deepEqual([rename.headers["content-type"], rename.headers.accept], Array(2).fill("application/sealed+json"));
  assert.equal(await body(rename), '{"nameCategory":"Ё"}');
  assert.equal(await opened(rename, "path:idCategory", rename.path.split("/")[3]), ID);
  assert.equal(await opened(transactions, "query", transactions.target.split("?sealed=")[1]), '{"page":2}');
});

test("parameters travel clear if that is wanted, and bodies are bound to them", async (t) => {
  const { client, calls } = await stub(t, answer, answer);
  await client({ sealingKey: KEY, sealParameters: false }).categories.rename(ID, "N");
  const [rename] = calls();
  assert.equal(rename.target, `/v1/category/${ID}`);
  await body(rename);
});

test("a change without a body has its identifiers sealed", async (t) => {
  const { client, calls } = await stub(t, (seen) => sealed(seen, TOKEN_PATHS.includes(seen.path) ? PAIR : {}), answer);
  await client({ sealingKey: KEY }).cards.unlink(ID, ID);
  const [unlink] = calls();
  assert.equal(await opened(unlink, "path:idEmployee", unlink.path.split("/")[3]), ID);
  assert.equal(await opened(unlink, "path:idCard", unlink.path.split("/")[5]), ID);
});

test("every change seals its body or its path", async () => {
  const sealing = { key: KEY, otherKeys: [], parameters: false, answers: true };
  for (const operation of Object.values(operations).filter(({ method }) => method !== undefined && method !== "GET")) {
    const values = Array.from(operation.path.matchAll(/\{/g), () => ID);
    const call = { operation, values, query: {}, body: undefined, key: "k" };
    const bare = await renderSealed(call, sealing, "n".repeat(16), 1);
    const count = bare.target.split("/s1.").length - 1;
    assert.equal(count, operation.changes ? values.length : 0, operation.path);
    const whole = await renderSealed({ ...call, body: "{}" }, sealing, "n".repeat(16), 1);
    assert.ok(!whole.target.includes("s1."), operation.path);
  }
});

test("an answer opens under any of the keys and for its call only", async (t) => {
  const underNext = (seen) => sealed(seen, said(seen), { key: NEXT });
  const next = await stub(t, underNext, underNext);
  assert.deepEqual((await next.client({ sealingKey: KEY, alsoOpenWith: [NEXT] }).categories.list()).data, []);
  const unknown = "sealed under key 0303030303030303, which this client does not have: was the sealing key rotated?";
  await assert.rejects(next.client({ sealingKey: KEY }).categories.list(), (error) => {
    assert.ok(error instanceof SealingError);
    assert.ok(error.message.includes(unknown), error.message);
    return true;
  });

  const asAnother = async (seen) => ({ ...(await sealed(seen, EMPTY, { status: 404 })), status: 200 });
  const { client, calls } = await stub(t, asAnother, answer);
  await assert.rejects(client({ sealingKey: KEY }).categories.list(), SealingError);
  assert.equal(calls().length, 1);
});

test("a success in clear is refused unless it was wanted", async (t) => {
  const clear = (seen) => ({ body: said(seen) });
  const { client } = await stub(t, clear, clear);
  await assert.rejects(client({ sealingKey: KEY }).categories.list(), /in clear/);
  assert.deepEqual((await client({ sealingKey: KEY, sealAnswers: false }).categories.list()).data, []);
});
