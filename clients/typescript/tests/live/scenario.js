/** The shared scenario, for Node and for browsers; see scripts/test-clients. */

import { ApiError, CardsError, Client, InvalidError, newKey } from "../../dist/index.js";

const [REFRESH, LOGIN] = ["/v1/get_refresh_token", "/v1/get_access_token"];

/** Plays it against a proxy at `url`, as two partners. Rejects if anything is not as it should be. */
export async function play({ url, required, optional, accessTtl }) {
  const api = past(url);
  const clientOf = ({ apiKey, login, password }, options) =>
    new Client({ baseUrl: url, apiKey, login, password, ...options });
  const { sealingKey } = required;
  await logsIn((options) => clientOf(required, options), sealingKey);
  const sealed = clientOf(required, { sealingKey, sealParameters: true });
  const clear = clientOf(optional);
  for (const client of [sealed, clear]) {
    const { idEmployee } = await addsEmployees(client);
    await repeatsAfterABrokenConnection(client, api);
    await hearsOfAllFaultyFields(client);
    const card = await ordersAndLinks(client, idEmployee);
    await topsUp(client, card);
    await limits(client, card);
    await makesOrdersWhileTheyAreListed(client);
    await renewsAnExpiredToken(client, api, accessTtl);
  }
  await logsInAnewAfterARevocation(clear, sealed, api, optional.apiKey);
}

async function logsIn(clientOf, sealingKey) {
  const pair = await clientOf({ sealingKey }).login();
  same(pair.accessExpireAt < pair.refreshExpireAt, true);
  const guessed = await refused(clientOf({ sealingKey, password: "a guess" }).balance(), ApiError);
  same(guessed.code, "bad_credentials");
  const unsealed = await refused(clientOf({}).balance(), InvalidError);
  same(fields(unsealed), ["body"]);
}

async function addsEmployees({ employees }) {
  const idempotencyKey = newKey();
  const given = { customId: "T-0001", surname: "Ёжикова", name: "Анна", phone: "0031234567" };
  const anna = await employees.add(given, { idempotencyKey });
  same((await employees.get(anna.idEmployee)).surname, "Ёжикова");
  same(await employees.add(given, { idempotencyKey }), anna);
  const error = await refused(employees.add({ customId: "T-0009" }, { idempotencyKey }), InvalidError);
  same(fields(error), ["idempotency-key"]);
  return anna;
}

async function repeatsAfterABrokenConnection({ employees }, api) {
  await api.seen();
  await api.call("POST", "/control/cut", {}, {});
  await employees.add({ customId: "T-0002" });
  const [first, second, ...others] = (await api.seen()).filter(({ path }) => path === "/v1/employee/add");
  same([first.cut, second.cut, others.length], [true, false, 0]);
  same(first.key, second.key);
  same(first.nonce === second.nonce, false);
  const all = [];
  for await (const { customId } of employees.all({ perPage: 1 })) all.push(customId);
  same(all, ["T-0001", "T-0002"]);
}

async function hearsOfAllFaultyFields({ employees }) {
  const faulty = { customId: "T 0003", phone: "+79031234567", email: "anna" };
  const error = await refused(employees.add(faulty), InvalidError);
  same(fields(error), ["customId", "phone", "email"]);
  same(typeof error.requestId, "string");
}

async function ordersAndLinks({ orders, cards, employees, sandbox }, idEmployee) {
  const order = await orders.virtual([{ numberCards: 2, amount: 50_000 }]);
  const states = [];
  same(await orders.wait(order, { timeoutMs: 60_000, onProgress: (state) => states.push(state) }), "SUCCESS");
  same(states.at(-1), "SUCCESS");
  const [issued, other] = (await orders.result(order)).data;
  same([issued.amount, other.amount], [50_000, 50_000]);
  const { idCard } = await cards.link(idEmployee, issued.customIdCard, "MAIN");
  await sandbox.activate(idCard, issued.activationCode);
  same((await employees.get(idEmployee)).cards[0].idCard, idCard);
  const free = [];
  for await (const { customIdCard } of cards.allAvailable()) free.push(customIdCard);
  same(free, [other.customIdCard]);
  return idCard;
}

async function topsUp(client, idCard) {
  const { replenishments } = client;
  const before = (await client.balance()).available;
  const topUp = await replenishments.create([{ idCard, amount: 10_000 }]);
  same(await replenishments.wait(topUp, { timeoutMs: 60_000 }), "SUCCESS");
  same(await replenishments.result(topUp), [{ idCard, succeeded: true, amount: 10_000, error: null }]);
  same((await client.balance()).available, before - 10_000);
  same((await client.cards.balance(idCard)).balance, 60_000);
  // The bank of a sandbox refuses what ends in 13.
  const refusal = await replenishments.create([{ idCard, amount: 10_013 }]);
  same(await replenishments.wait(refusal, { timeoutMs: 60_000 }), "DECLINE");
  same((await replenishments.result(refusal))[0].error, "refused by the bank");
  const stranger = crypto.randomUUID();
  const error = await refused(replenishments.create([{ idCard: stranger, amount: 10_000 }]), CardsError);
  same(error.faults[0].idCard, stranger);
}

async function limits({ limits, cards, sandbox }, card) {
  const change = await limits.set([card], { amount: 5_000, period: "CDAY" });
  same(await limits.wait(change, { timeoutMs: 60_000 }), "SUCCESS");
  same(await limits.result(change), [{ idCard: card, succeeded: true, error: null }]);
  const { unlimited, amount, period } = (await cards.info(card)).limit;
  same([unlimited, amount, period], [false, 5_000, "CDAY"]);
  same([(await cards.canPay(card, 5_000)).allowed, (await cards.canPay(card, 5_001)).allowed], [true, false]);
  same((await sandbox.purchase(card, { amount: 5_000, place: "Столовая" })).approved, true);
  same((await cards.transactions(card, { perPage: 1 })).data[0].place, "Столовая");
}

/** An order made during the walk shifts the others, and none of them comes twice or not at all. */
async function makesOrdersWhileTheyAreListed({ orders }) {
  for (let made = 0; made < 25; made++) await orders.virtual([{ numberCards: 1, amount: 5_000 }]);
  const before = (await orders.list({ perPage: 500 })).data.map(({ orderId }) => orderId);
  const found = [];
  for await (const { orderId } of orders.all({ perPage: 20 })) {
    found.push(orderId);
    if (found.length % 10 === 1) await orders.virtual([{ numberCards: 1, amount: 5_000 }]);
  }
  same(found, before);
}

async function renewsAnExpiredToken(client, api, accessTtl) {
  await api.seen();
  // Only the service's clock moves: the client learns of it by a 401.
  await client.sandbox.advanceClock(accessTtl + 60);
  await client.balance();
  const calls = await api.seen();
  const statuses = (...paths) => calls.filter(({ path }) => paths.includes(path)).map(({ status }) => status);
  same(statuses("/v1/balance"), [401, 200]);
  same(statuses(REFRESH, LOGIN), [200]);
}

async function logsInAnewAfterARevocation(client, other, api, apiKey) {
  const first = await client.refresh();
  const second = await client.refresh();
  await client.balance();
  // A token that is shown once too often tells of a thief: all that grew from the same login ends.
  const shown = await api.call("POST", REFRESH, { "x-api-key": apiKey }, { token: first.refreshToken.expose() });
  same(shown.status, 401);
  // What the service has just seen to be good it believes for two seconds.
  await other.sandbox.advanceClock(5);
  const authorization = `Bearer ${second.accessToken.expose()}`;
  same((await api.call("GET", "/v1/balance", { authorization })).status, 401);
  await api.seen();
  await client.balance();
  const calls = (await api.seen()).map(({ path, status }) => `${path} ${status}`);
  same(calls, ["/v1/balance 401", `${REFRESH} 401`, `${LOGIN} 200`, "/v1/balance 200"]);
}

/** Calls past the client. */
function past(url) {
  const call = (method, path, headers = {}, body = undefined) =>
    fetch(url + path, {
      method,
      headers: { "content-type": "application/json", "x-nonce": newKey(), ...headers },
      body: body && JSON.stringify(body),
    });
  /** What passed the proxy since this was asked last. */
  const seen = async () => (await call("GET", "/control/seen")).json();
  return { call, seen };
}

async function refused(call, kind) {
  try {
    await call;
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error("the call was not refused");
}

function fields(error) {
  return error.faults.map(({ field }) => field);
}

function same(found, expected) {
  const [a, b] = [found, expected].map((value) => JSON.stringify(sorted(value)));
  if (a !== b) throw new Error(`should be ${b}, is ${a}`);
}

/** With the fields of objects in one order. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sorted(v)]));
}
