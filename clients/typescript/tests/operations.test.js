/** Every operation: what it sends, and that its answer is read. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { isKnown, Secret } from "../dist/index.js";
import { stub, TOKEN_PATHS } from "./stub.js";

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const NOON = "07.02.2026 12:00";

// One answer for all: each operation reads the fields that it knows.
const OBJECT = {
  ...Object.fromEntries(["idEmployee", "idCard", "idCategory", "orderId"].map((name) => [name, ID])),
  ...{ replenishmentId: ID, setLimitsCardsId: ID, closingId: ID, withdrawalId: ID, customId: "T-1", phone: 31234567, status: "NEW" },
  ...{ createdAt: "01.02.2026", statusUpdatedAt: "01.02.2026", nameCategory: "N", statusCard: "MAIN" },
  ...{ customCardId: 4006381333931, type: "MP4", dateUntil: "31.01.2029", balance: 5, canToUp: 6, hold: 1 },
  ...{ available: 4, balanceAccount: { updateAt: "07.02.2026 03:00", value: 4 }, updatedAt: "07.02.2026 09:05" },
  ...{ limit: { unlimited: true }, activated: true, message: "SUCCESS", allowed: false, reason: "limit", remaining: 7 },
  ...{ resetsAt: "01.03.2026 00:00", approved: true, transactionId: 9, typeCard: "MLZ", customIdCard: "4006381333931" },
  ...{ kind: "VIRTUAL", id: 3, numberCards: 2, amount: 10, dateExecutionAt: "07.02.2026", timeExecutionAt: "09:05" },
  ...{ resultReplenishment: false, amountReplenishment: 5, errorReplenishment: "expired", resultLimit: true },
  ...{ resultClosing: true, amountReturned: 6, errorClosing: null, amountMoved: 7 },
  ...{ resultWithdrawal: false, amountWithdrawn: 0, errorWithdrawal: "the card is closed" },
  ...{ errorLimit: null, activationCode: "hush", newer: [1] },
};
const meta = { current_page: 1, from: 1, to: 1, total: 1, last_page: 1, per_page: 15, path: "/v1/x" };

const EVENT = { id: ID, seq: 4, type: "newer", createdAt: "2026-02-07T09:05:00Z", data: { idCard: ID } };

const WEBHOOK = {
  ...{ idWebhook: ID, url: "https://a.b/", types: null, secret: "whsec_s", eventId: ID, deliveries: 2, idDelivery: ID },
};

const of = { kind: "order", id: ID, reference: null };
const ENTRY = { seq: 3, at: NOON, type: "HOLD", amount: -5, balance: 7, hold: 8, of };

const RUN = { idRun: ID, kind: "TOP_UP", status: "DRAFT", digest: "ab", availableAfter: 4, requests: [] };
const PROGRAMME = { idProgramme: ID, status: "ACTIVE", nextAt: "05.03.2026 09:00", amount: { upTo: 500 } };
const RUN_ITEM = { line: 1, outcome: "DONE", fault: { field: "amount", code: "missing", detail: "must be given" } };

const SETTINGS = { leavers: { freeze: true, takeBackAfterDays: 30, close: false } };

function answer({ path, target, headers }) {
  if (path === "/v1/settings") return { body: SETTINGS };
  if (path === "/v1/sessions") return { body: [{ idSession: ID, current: true }] };
  if (path.startsWith("/v1/session/")) return { body: { idSession: ID } };
  if (path === "/v1/password") return { body: { success: true, endedSessions: 2 } };
  if (path === "/v1/requests") return { body: { data: [{ seq: 4, requestId: "r-1", fields: ["phone"] }], next: 4 } };
  if (path.endsWith("/result") && headers.accept === "text/csv") return { body: "customId,outcome,reason" };
  if (path.startsWith("/v1/programme")) {
    const listed = path.includes("/forecast") ? { needed: 500 } : path.endsWith("/runs") ? RUN : PROGRAMME;
    return { body: { ...PROGRAMME, data: [listed], meta } };
  }
  if (path.startsWith("/v1/run")) {
    return { body: { ...RUN, data: [/\/(items|result)$/.test(path) ? RUN_ITEM : RUN], meta } };
  }
  if (path.startsWith("/v1/webhook")) return { body: { ...WEBHOOK, data: [WEBHOOK], meta } };
  if (path === "/v1/balance/entries") return { body: { opening: 1, closing: 2, data: [ENTRY], meta } };
  if (path === "/v1/statement/2026-01") {
    const statement = { month: "2026-01", complete: true, opening: 1, closing: 2, totals: [], days: [] };
    return { body: headers.accept === "text/csv" ? "seq" : statement };
  }
  if (path === "/v1/report/employees/2026-02") {
    return { body: headers.accept === "text/csv; profile=excel" ? "No." : { data: [], totals: { closing: 5 } } };
  }
  if (path === "/v1/report/2026-02/close") return { body: { month: "2026-02", sha256: "0f" } };
  if (path === "/v1/transactions") {
    const data = target.includes("after=4") ? [] : [{ ...OBJECT, seq: 4, type: "PAYMENT" }];
    return { body: { data, next: 4 } };
  }
  if (path === "/v1/events") return { body: { data: [EVENT], next: 4, oldest: 2, newest: 9 } };
  const data = /^\/v1\/(employee|card)\/[^/]+$/.test(path) ? OBJECT : [OBJECT];
  return { body: { ...OBJECT, data, meta } };
}

async function all(records) {
  const read = [];
  for await (const record of records) read.push(record);
  return read;
}

const groups = {
  async tokens(client) {
    await client.login();
    await client.refresh();
  },

  async employees({ employees, categories }) {
    assert.equal((await employees.add({ customId: "T-1", phone: "9031234567" })).phone, "0031234567");
    await employees.update(ID, { email: null, status: "WORK" });
    await employees.update(ID, { name: "N" }, { ifMatch: '"1f"' });
    assert.equal((await employees.get(ID.toUpperCase())).idEmployee, ID);
    const { employee, etag } = await employees.getTagged(ID);
    assert.deepEqual([employee.idEmployee, etag], [ID, undefined]);
    const filter = { status: "WORK", idCategory: ID, customId: "T-1", q: "a b", page: 1, perPage: 15 };
    const { data, ...place } = await employees.list(filter);
    assert.deepEqual([data.length, place], [1, { page: 1, lastPage: 1, perPage: 15, total: 1, next: undefined }]);
    assert.equal((await all(employees.all())).length, 1);
    assert.equal((await employees.erase(ID)).idEmployee, ID);
    await categories.create("Ё");
    await categories.rename(ID, "N");
    assert.equal((await categories.delete(ID)).nameCategory, "N");
    assert.equal((await categories.list()).data[0].idCategory, ID);
  },

  async cards({ cards }) {
    const card = await cards.info(ID);
    assert.deepEqual([card.limit.unlimited, card.balanceAccount.updatedAt], [true, "07.02.2026 03:00"]);
    assert.equal((await cards.balance(ID)).balanceAccount.value, 4);
    const page = await cards.transactions(ID, { from: "07.02.2026", type: "PAYMENT" });
    assert.equal(page.data[0].timeExecutionAt, "09:05");
    assert.equal((await cards.canPay(ID, 500, { at: NOON, mcc: "5812" })).remaining, 7);
    assert.equal((await cards.canPay(ID, 500)).allowed, false);
    assert.equal((await cards.available({ typeCard: "MLZ" })).data[0].customIdCard, "4006381333931");
    assert.equal((await cards.link(ID, "4006381333931", "MAIN")).idCard, ID);
    assert.equal((await cards.switch(ID, ID, "ADDITIONAL")).statusCard, "MAIN");
    assert.equal((await cards.unlink(ID, ID)).idCard, ID);
    const cardFilter = { linked: false, statusCard: "MAIN", bankStatus: "CLOSED", typeCard: "MLZ", orderId: ID, idEmployee: ID };
    assert.equal((await cards.list({ ...cardFilter, expiresBefore: "07.02.2026", customIdCard: "8747859702" })).data[0].balance, card.balance);
    assert.equal((await all(cards.all({ linked: true }))).length, 1);
  },

  async orders({ orders }) {
    const plastic = { numberCards: 2, typeCard: "KKL", deliveryAddress: "A", recipient: "R", phone: "9031234567" };
    assert.equal(await orders.plastic([plastic], { reference: "PO-7" }), ID);
    await orders.virtual([{ numberCards: 2, amount: 5_000 }], { reference: "PO-8" });
    assert.deepEqual(await orders.status(ID), { id: ID, state: "SUCCESS" });
    const [issued] = (await orders.result(ID)).data;
    assert.equal(issued.activationCode.expose(), "hush");
    await orders.confirm(ID);
    await orders.cancel(ID);
    const days = { reference: "PO-7", from: "07.02.2026", to: "08.02.2026" };
    assert.equal((await orders.list({ status: "NEW", ...days, page: 1 })).data[0].kind, "VIRTUAL");
  },

  async requests({ replenishments, limits }) {
    assert.equal(await replenishments.create([{ idCard: ID, amount: 100 }, { customId: "T-1", amount: 200 }], { reference: "PO-7" }), ID);
    await replenishments.status(ID);
    assert.deepEqual(await replenishments.result(ID), [{ idCard: ID, succeeded: false, amount: 5, error: "expired" }]);
    await replenishments.cancel(ID);
    await replenishments.list({ reference: "PO-7" });
    const times = [{ from: "08:00", to: "24:00" }];
    assert.equal(await limits.set([ID, { customIdCard: "8747859702" }], { amount: 100, period: "CDAY", days: [1, 7], times, merchantCategories: { only: ["5812"] } }, { reference: "PO-7" }), ID);
    await limits.status(ID);
    await limits.cancel(ID);
    assert.deepEqual(await limits.result(ID), [{ idCard: ID, succeeded: true, error: null }]);
    await limits.list({ status: "DECLINE" });
  },

  async returns({ closings, withdrawals }) {
    assert.equal(await closings.create([{ idCard: ID, reason: "STOLEN" }], { reference: "A-7" }), ID);
    assert.equal((await closings.status(ID)).id, ID);
    assert.deepEqual(await closings.result(ID), [{ idCard: ID, succeeded: true, amount: 6, error: null }]);
    await closings.cancel(ID);
    assert.equal((await closings.list()).data[0].amountMoved, 7);
    assert.equal(await withdrawals.create([{ idCard: ID, amount: 300 }, { idCard: ID }]), ID);
    await withdrawals.status(ID);
    const error = "the card is closed";
    assert.deepEqual(await withdrawals.result(ID), [{ idCard: ID, succeeded: false, amount: 0, error }]);
    await withdrawals.cancel(ID);
    await withdrawals.list({ status: "DECLINE" });
  },

  async statements({ statements }) {
    const days = { from: "07.02.2026", to: "07.02.2026" };
    const page = await statements.entries({ ...days, type: "HOLD", page: 1 });
    assert.deepEqual([page.opening, page.closing, page.next, page.data], [1, 2, undefined, [ENTRY]]);
    assert.deepEqual((await all(statements.allEntries())).map(({ seq }) => seq), [3]);
    assert.equal((await statements.month("2026-01")).closing, 2);
    assert.ok((await statements.file("2026-01", "csv")) instanceof Uint8Array);
    assert.equal((await statements.report("2026-02", { idCategory: ID, idProgramme: ID })).totals.closing, 5);
    assert.ok((await statements.reportFile("2026-02", "excel-csv", { lang: "ru" })) instanceof Uint8Array);
    assert.equal((await statements.closeReport("2026-02")).sha256, "0f");
    const feed = await statements.transactions({ after: 3, limit: 10, type: "PAYMENT", idCard: ID, idEmployee: ID });
    assert.deepEqual([feed.next, feed.data[0].seq, feed.data[0].customId], [4, 4, "T-1"]);
    assert.deepEqual((await all(statements.allTransactions(days))).map(({ seq }) => seq), [4]);
  },

  async events({ events }) {
    const feed = await events.list({ after: 3, limit: 10, types: ["card.issued", "newer"], wait: 5 });
    const { next, oldest, newest } = feed;
    assert.deepEqual([next, oldest, newest, feed.data[0].type, isKnown(feed.data[0])], [4, 2, 9, "newer", false]);
    const seen = [];
    for await (const { seq } of events.follow()) if (seen.push(seq) === 2) break;
    assert.deepEqual(seen, [4, 4]);
    await events.list({ after: 7, fromNow: true });
    for await (const { seq } of events.follow({ fromNow: true, types: ["ping"] })) if (seen.push(seq) === 4) break;
  },

  async sessions(client) {
    assert.deepEqual(await client.sessions.list(), [{ idSession: ID, current: true }]);
    assert.equal((await client.sessions.end(ID)).idSession, ID);
    assert.equal((await client.changePassword("old", "new")).endedSessions, 2);
    const query = { after: 3, limit: 10, status: 422, operation: "employee.add", requestId: "r-1" };
    const { data, next } = await client.requestLog.list(query);
    assert.deepEqual([data[0].fields, next], [["phone"], 4]);
    for await (const { requestId } of client.requestLog.follow()) {
      assert.equal(requestId, "r-1");
      break;
    }
  },

  async settings({ settings }) {
    const { leavers } = await settings.get();
    assert.deepEqual(leavers, SETTINGS.leavers);
    assert.deepEqual(await settings.update(leavers), SETTINGS);
  },

  async programmes({ programmes }) {
    const terms = { name: "Meals", for: { all: true }, amount: { upTo: 500 }, every: "MONTH", day: 5 };
    assert.equal((await programmes.create(terms)).idProgramme, ID);
    assert.equal((await programmes.list({ page: 1 })).data[0].status, "ACTIVE");
    assert.equal((await programmes.get(ID)).amount.upTo, 500);
    await programmes.change(ID, terms);
    await programmes.pause(ID);
    await programmes.resume(ID);
    await programmes.approve(ID);
    await programmes.refuse(ID);
    assert.equal((await programmes.runs(ID)).data[0].idRun, ID);
    assert.equal((await programmes.forecast("07.02.2026"))[0].needed, 500);
    assert.equal((await programmes.preview({ ...terms, idProgramme: ID, forecastUntil: "07.02.2026" }))[0].needed, 500);
    await programmes.delete(ID);
  },
  async runs({ runs }) {
    const items = [{ customId: "T-1", amount: 500 }];
    assert.equal((await runs.create({ kind: "TOP_UP", items, reference: "R-1" })).idRun, ID);
    const file = new TextEncoder().encode("customId");
    assert.equal((await runs.createFromFile(file, { kind: "TOP_UP", reference: "R-2" })).idRun, ID);
    assert.equal((await runs.get(ID)).availableAfter, 4);
    assert.equal((await runs.items(ID, { faulty: true })).data[0].fault.code, "missing");
    await runs.submit(ID, "ab", true);
    await runs.approve(ID, "ab");
    await runs.refuse(ID, "no");
    await runs.cancel(ID);
    assert.equal((await runs.result(ID))[0].outcome, "DONE");
    assert.equal(new TextDecoder().decode(await runs.resultFile(ID, "csv")), "customId,outcome,reason");
    assert.equal((await runs.list({ status: "DRAFT" })).data[0].kind, "TOP_UP");
  },
  async webhooks({ webhooks }) {
    const created = await webhooks.create({ url: "https://a.b/", types: ["ping"], sealed: true });
    assert.deepEqual([created.secret.expose(), JSON.stringify(created.secret)], ["whsec_s", '"[secret]"']);
    assert.equal((await webhooks.list()).data[0].idWebhook, ID);
    assert.equal((await webhooks.get(ID)).url, "https://a.b/");
    await webhooks.update(ID, { types: null, enabled: false });
    await webhooks.delete(ID);
    assert.equal((await webhooks.rotateSecret(ID)).expose(), "whsec_s");
    assert.equal(await webhooks.ping(ID), ID);
    assert.equal((await webhooks.deliveries(ID, { status: "FAILED" })).data[0].idDelivery, ID);
    assert.equal(await webhooks.redeliver(ID, { after: 0 }), 2);
    await webhooks.redeliver(ID, { eventId: ID });
  },

  async sandbox(client) {
    const { sandbox } = client;
    assert.equal((await sandbox.deposit(100)).available, 4);
    const purchase = { amount: 5, place: "P", mcc: "5812", merchantId: "M", at: NOON };
    assert.equal((await sandbox.purchase(ID, purchase)).transactionId, 9);
    assert.equal((await sandbox.refund(ID, 9, 5)).transactionId, 9);
    await sandbox.activate(ID, new Secret("code"));
    await sandbox.activate(ID);
    await sandbox.block(ID);
    await sandbox.unblock(ID);
    await sandbox.expire(ID);
    await sandbox.bank({ errorRate: 0.5 });
    await sandbox.advanceClock(60);
    assert.equal((await client.balance()).hold, 1);
  },
};

const SENT = {
  tokens: [],
  employees: [
    'POST /v1/employee/add {"customId":"T-1","phone":"9031234567"}',
    'PUT /v1/employee/ID {"email":null,"status":"WORK"}',
    'PUT /v1/employee/ID {"name":"N"} if-match: "1f"',
    "GET /v1/employee/ID",
    "GET /v1/employee/ID",
    "GET /v1/employees?status=WORK&idCategory=ID&customId=T-1&q=a+b&page=1&per_page=15",
    "GET /v1/employees?page=1&per_page=100",
    "DELETE /v1/employee/ID",
    'POST /v1/category {"nameCategory":"Ё"}',
    'PUT /v1/category/ID {"nameCategory":"N"}',
    "DELETE /v1/category/ID",
    "GET /v1/categories",
  ],
  cards: [
    "GET /v1/card/ID",
    "GET /v1/card/ID/balance",
    "GET /v1/card/ID/transactions?from=07.02.2026&type=PAYMENT",
    `POST /v1/card/ID/can-pay {"amount":500,"at":"${NOON}","mcc":"5812"}`,
    'POST /v1/card/ID/can-pay {"amount":500}',
    "GET /v1/cards/available?typeCard=MLZ",
    'POST /v1/employee/ID/link_card {"customIdCard":"4006381333931","statusCard":"MAIN"}',
    'POST /v1/employee/ID/card/switch {"idCard":"ID","statusCard":"ADDITIONAL"}',
    "DELETE /v1/employee/ID/card/ID",
    "GET /v1/cards?linked=false&statusCard=MAIN&bankStatus=CLOSED&typeCard=MLZ&orderId=ID&idEmployee=ID&expiresBefore=07.02.2026&customIdCard=8747859702",
    "GET /v1/cards?linked=true&page=1&per_page=100",
  ],
  orders: [
    'POST /v1/order/plasticcards {"data":[{"numberCards":2,"typeCard":"KKL","deliveryAddress":"A","recipient":"R","phone":"9031234567"}],"reference":"PO-7"}',
    'POST /v1/order/virtualcards {"data":[{"typeCard":"MLZ","numberCards":2,"amount":5000}],"reference":"PO-8"}',
    "GET /v1/order/status/ID",
    "GET /v1/order/result/ID",
    'POST /v1/order/confirm {"orderId":"ID"}',
    'POST /v1/order/cancel {"orderId":"ID"}',
    "GET /v1/orders?status=NEW&reference=PO-7&from=07.02.2026&to=08.02.2026&page=1",
  ],
  requests: [
    'POST /v1/replenishment {"cards":[{"idCard":"ID","amountReplenishment":100},{"customId":"T-1","amountReplenishment":200}],"reference":"PO-7"}',
    "GET /v1/replenishment/status?idReplenishment=ID",
    "GET /v1/replenishment/result?idReplenishment=ID",
    "DELETE /v1/replenishment/ID",
    "GET /v1/replenishments?reference=PO-7",
    'POST /v1/setlimitscards {"data":[{"idCard":"ID"},{"customIdCard":"8747859702"}],"limit":{"amount":100,"period":"CDAY","days":[1,7],"times":[{"from":"08:00","to":"24:00"}],"merchantCategories":{"only":["5812"]}},"reference":"PO-7"}',
    'POST /v1/limits/status {"setLimitsCardsId":"ID"}',
    'POST /v1/limits/cancel {"setLimitsCardsId":"ID"}',
    "GET /v1/limits/result/ID",
    "GET /v1/limits?status=DECLINE",
  ],
  returns: [
    'POST /v1/closings {"data":[{"idCard":"ID","reason":"STOLEN"}],"reference":"A-7"}',
    "GET /v1/closing/ID/status",
    "GET /v1/closing/ID/result",
    "DELETE /v1/closing/ID",
    "GET /v1/closings",
    'POST /v1/withdrawals {"data":[{"idCard":"ID","amount":300},{"idCard":"ID"}]}',
    "GET /v1/withdrawal/ID/status",
    "GET /v1/withdrawal/ID/result",
    "DELETE /v1/withdrawal/ID",
    "GET /v1/withdrawals?status=DECLINE",
  ],
  statements: [
    "GET /v1/balance/entries?from=07.02.2026&to=07.02.2026&type=HOLD&page=1",
    "GET /v1/balance/entries?page=1&per_page=100",
    "GET /v1/statement/2026-01",
    "GET /v1/statement/2026-01",
    "GET /v1/report/employees/2026-02?idCategory=ID&idProgramme=ID",
    "GET /v1/report/employees/2026-02?lang=ru",
    "POST /v1/report/2026-02/close {}",
    "GET /v1/transactions?after=3&limit=10&type=PAYMENT&idCard=ID&idEmployee=ID",
    "GET /v1/transactions?from=07.02.2026&to=07.02.2026&after=0&limit=1000",
    "GET /v1/transactions?from=07.02.2026&to=07.02.2026&after=4&limit=1000",
  ],
  events: [
    "GET /v1/events?after=3&limit=10&wait=5&types=card.issued%2Cnewer",
    "GET /v1/events?after=0&wait=20",
    "GET /v1/events?after=4&wait=20",
    "GET /v1/events?after=newest",
    "GET /v1/events?after=newest&wait=20&types=ping",
    "GET /v1/events?after=4&wait=20&types=ping",
  ],
  sessions: [
    "GET /v1/sessions",
    "DELETE /v1/session/ID",
    'PUT /v1/password {"current":"old","new":"new"}',
    "GET /v1/requests?after=3&limit=10&status=422&operation=employee.add&requestId=r-1",
    "GET /v1/requests?after=0",
  ],
  settings: [
    "GET /v1/settings",
    'PUT /v1/settings {"leavers":{"freeze":true,"takeBackAfterDays":30,"close":false}}',
  ],
  programmes: [
    'POST /v1/programmes {"name":"Meals","for":{"all":true},"amount":{"upTo":500},"every":"MONTH","day":5}',
    "GET /v1/programmes?page=1",
    "GET /v1/programme/ID",
    'PUT /v1/programme/ID {"name":"Meals","for":{"all":true},"amount":{"upTo":500},"every":"MONTH","day":5}',
    "POST /v1/programme/ID/pause",
    "POST /v1/programme/ID/resume",
    "POST /v1/programme/ID/approve {}",
    "POST /v1/programme/ID/refuse {}",
    "GET /v1/programme/ID/runs",
    "GET /v1/programmes/forecast?until=07.02.2026",
    'POST /v1/programmes/forecast {"name":"Meals","for":{"all":true},"amount":{"upTo":500},"every":"MONTH","day":5,"idProgramme":"ID","forecastUntil":"07.02.2026"}',
    "DELETE /v1/programme/ID",
  ],
  runs: [
    'POST /v1/runs {"kind":"TOP_UP","items":[{"customId":"T-1","amount":500}],"reference":"R-1"}',
    'POST /v1/runs {"kind":"TOP_UP","reference":"R-2","file":"Y3VzdG9tSWQ="}',
    "GET /v1/run/ID",
    "GET /v1/run/ID/items?faulty=true",
    'POST /v1/run/ID/submit {"digest":"ab","skipFaulty":true}',
    'POST /v1/run/ID/approve {"digest":"ab"}',
    'POST /v1/run/ID/refuse {"reason":"no"}',
    "POST /v1/run/ID/cancel",
    "GET /v1/run/ID/result",
    "GET /v1/run/ID/result",
    "GET /v1/runs?status=DRAFT",
  ],
  webhooks: [
    'POST /v1/webhooks {"url":"https://a.b/","types":["ping"],"sealed":true}',
    "GET /v1/webhooks",
    "GET /v1/webhook/ID",
    'PUT /v1/webhook/ID {"types":null,"enabled":false}',
    "DELETE /v1/webhook/ID",
    "POST /v1/webhook/ID/secret",
    "POST /v1/webhook/ID/ping",
    "GET /v1/webhook/ID/deliveries?status=FAILED",
    'POST /v1/webhook/ID/redeliver {"after":0}',
    'POST /v1/webhook/ID/redeliver {"eventId":"ID"}',
  ],
  sandbox: [
    'POST /sandbox/v1/balance/deposit {"amount":100}',
    `POST /sandbox/v1/card/ID/purchase {"amount":5,"place":"P","mcc":"5812","merchantId":"M","at":"${NOON}"}`,
    'POST /sandbox/v1/card/ID/refund {"transactionId":9,"amount":5}',
    'POST /sandbox/v1/card/ID/activate {"activationCode":"code"}',
    "POST /sandbox/v1/card/ID/activate {}",
    "POST /sandbox/v1/card/ID/block {}",
    "POST /sandbox/v1/card/ID/unblock {}",
    "POST /sandbox/v1/card/ID/expire {}",
    'POST /sandbox/v1/bank {"errorRate":0.5}',
    'POST /sandbox/v1/clock/advance {"seconds":60}',
    "GET /v1/balance",
  ],
};

for (const [name, calls] of Object.entries(groups)) {
  test(`what is sent: ${name}`, async (t) => {
    const { client, seen } = await stub(t, answer);
    await calls(client());
    const others = seen.filter(({ path }) => !TOKEN_PATHS.includes(path));
    const lines = others.map(({ method, target, body, headers }) => {
      const condition = headers["if-match"] ? ` if-match: ${headers["if-match"]}` : "";
      return `${method} ${target} ${body}${condition}`.replaceAll(ID, "ID").trimEnd();
    });
    assert.deepEqual(lines, SENT[name]);
    for (const { method, path, headers } of others) {
      // Three calls ask by POST; what changes something has a key, and nothing else has.
      const asked = ["/v1/limits/status", "/v1/programmes/forecast"];
      const asks = method === "GET" || path.endsWith("/can-pay") || asked.includes(path);
      assert.equal(headers["idempotency-key"] === undefined, asks, path);
    }
  });
}

test("every operation of the reference has a method", async (t) => {
  const reference = readFileSync(new URL("../../../docs/API.md", import.meta.url), "utf8");
  const named = new Set([...reference.matchAll(/^`((?:GET|POST|PUT|PATCH|DELETE) \/\S+)`$/gm)].map(([, name]) => name));
  // What another operation asks, in another spelling.
  for (const what of ["status", "result"]) named.delete(`GET /v1/replenishment/{replenishmentId}/${what}`);
  assert.ok(named.size > 40);
  const { client, seen } = await stub(t, answer);
  for (const calls of Object.values(groups)) await calls(client());
  const sent = new Set(seen.map(({ method, path }) => `${method} ${path}`.replaceAll(ID, "{}").replace(/2026-0[0-9]/, "{}")));
  assert.deepEqual([...sent].sort(), [...named].map((name) => name.replace(/\{\w+\}/g, "{}")).sort());
});
