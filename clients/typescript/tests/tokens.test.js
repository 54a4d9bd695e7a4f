/** Tokens: login at first use, one renewal for all, and a refresh token is never shown once too often. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, TransportError } from "../dist/index.js";
import { CUT, pair, stub } from "./stub.js";

const BALANCE = { body: { balance: 1, hold: 0, available: 1, updatedAt: "07.02.2026 09:05" } };
const REFUSED = { status: 401, body: { code: "unauthorized", message: "no" } };
const [LOGIN, REFRESH] = ["/v1/get_access_token", "/v1/get_refresh_token"];

/** Pairs with a number each. */
function numbered(expires) {
  let number = 0;
  return () => pair(++number, expires);
}

const only = (token) => (seen) => (seen.headers.authorization === `Bearer ${token}` ? BALANCE : REFUSED);
const eight = (call) => Promise.all(Array.from({ length: 8 }, call));

test("the first call logs in and the others share it", async (t) => {
  const { client, seen, count, calls } = await stub(t, () => BALANCE, numbered());
  const one = client();
  await eight(() => one.balance());
  assert.deepEqual([count(LOGIN), count(REFRESH), calls().length], [1, 0, 8]);
  const login = seen.find(({ path }) => path === LOGIN);
  assert.equal(login.headers["x-api-key"], "ak_test");
  assert.deepEqual(JSON.parse(login.body), { login: "partner-1", password: "hunter2" });
});

test("after a change of the password the client logs in with the new one", async (t) => {
  const changed = { body: { success: true, endedSessions: 0 } };
  const answer = ({ path }) => (path === "/v1/password" ? changed : BALANCE);
  const { client, seen } = await stub(t, answer, numbered());
  const one = client();
  await one.changePassword("hunter2", "a new one");
  await one.login();
  const passwords = seen.filter(({ path }) => path === LOGIN).map(({ body }) => JSON.parse(body).password);
  assert.deepEqual(passwords, ["hunter2", "a new one"]);
});

test("a token is renewed shortly before its end", async (t) => {
  let now = 1_000;
  const { client, count } = await stub(t, () => BALANCE, numbered(1_900));
  const one = client({ clock: () => now * 1_000 });
  await one.balance();
  now = 1_869;
  await one.balance();
  assert.equal(count(REFRESH), 0);
  now = 1_870;
  await one.balance();
  assert.equal(count(REFRESH), 1);
  // The new one seems expired when it comes, as the stub knows no other time: it serves all the same.
  now = 1_950;
  await one.refresh();
  await one.balance();
  await one.balance();
  assert.equal(count(REFRESH), 2);
});

test("calls that were refused share one renewal", async (t) => {
  const { client, count } = await stub(t, only("access-2"), numbered());
  const one = client();
  await one.login();
  await eight(() => one.balance());
  assert.deepEqual([count(LOGIN), count(REFRESH)], [1, 1]);
});

test("a renewal goes on when the call that began it is called off", async (t) => {
  const controller = new AbortController();
  const tokens = numbered();
  const { client, count } = await stub(t, () => BALANCE, async () => {
    controller.abort(new Error("enough"));
    return tokens();
  });
  const one = client();
  const off = assert.rejects(one.balance({ signal: controller.signal }), /enough/);
  const other = one.balance();
  await off;
  assert.equal((await other).available, 1);
  assert.equal(count(LOGIN), 1);
});

test("a refresh token that is not accepted leads to a login", async (t) => {
  let logins = 0;
  const tokens = ({ path }) => (path === REFRESH ? REFUSED : pair(++logins));
  const { client, count } = await stub(t, only("access-2"), tokens);
  assert.equal((await client().balance()).available, 1);
  assert.deepEqual([count(LOGIN), count(REFRESH)], [2, 1]);
});

test("a refresh whose answer is lost is sent once more and never again", async (t) => {
  const { client, count } = await stub(t, () => BALANCE, ({ path }) => (path === REFRESH ? CUT : pair(1)));
  const one = client();
  await one.login();
  await one.refresh();
  assert.deepEqual([count(LOGIN), count(REFRESH)], [2, 2]);
});

test("a call that is refused twice fails", async (t) => {
  const { client, calls } = await stub(t, () => REFUSED, numbered());
  await assert.rejects(client().balance(), (error) => error instanceof ApiError && error.status === 401);
  assert.equal(calls().length, 2);
});

test("wrong credentials are told at once", async (t) => {
  const wrong = { status: 400, body: { code: "bad_credentials", message: "wrong" } };
  const { client, seen } = await stub(t, () => BALANCE, () => wrong);
  await assert.rejects(client().balance(), (error) => error.code === "bad_credentials");
  assert.equal(seen.length, 1);
});

test("a login that fails is not multiplied by the retries of the call", async (t) => {
  const { client, count } = await stub(t, () => BALANCE, () => CUT);
  await assert.rejects(client({ retry: { maxRetries: 2 } }).balance(), TransportError);
  assert.equal(count(LOGIN), 3);
});
