/** Lists that change while they are read. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Walk } from "../dist/walk.js";
import { stub } from "./stub.js";

/** Chance that comes again with the same seed (mulberry32). */
function chance(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A page as the service gives it. */
function pageOf(records, page, perPage) {
  const lastPage = Math.max(1, Math.ceil(records.length / perPage));
  const data = records.slice((page - 1) * perPage, page * perPage);
  return { data, page, perPage, lastPage, total: records.length, next: page < lastPage ? page + 1 : undefined };
}

/** What a walk finds in a list that `change` changes after each page. */
function walked(records, most, change) {
  const walk = new Walk(most, (record) => record);
  const found = [];
  while (!walk.ended) {
    const { page, perPage } = walk.nextPage();
    assert.ok(perPage >= 1 && perPage <= Math.max(most, 20));
    found.push(...walk.take(pageOf(records, page, perPage)));
    change(records);
  }
  return found;
}

test("a list that stays is read whole and in order", () => {
  for (const length of [0, 1, 19, 20, 21, 99, 100, 101, 997, 2520, 2521]) {
    const records = Array.from({ length }, (_, number) => number);
    for (const most of [1, 20, 33, 100, 500]) assert.deepEqual(walked(records, most, () => undefined), records);
  }
});

test("what stays in a list comes once, however the list changes", () => {
  for (let seed = 0; seed < 300; seed++) {
    const next = chance(seed);
    const records = Array.from({ length: Math.floor(next() * 400) }, (_, number) => number);
    const stays = new Set(records.filter(() => next() < 0.5));
    // New ones come to the front, to the end or anywhere. A list that grows as fast as it is read would have no end.
    const place = [() => 0, (length) => length, (length) => Math.floor(next() * (length + 1))][seed % 3];
    let [changes, fresh] = [0, 1_000_000];
    const order = records.filter((record) => stays.has(record));
    const found = walked(records, [1, 20, 50][Math.floor(next() * 3)], () => {
      if (changes++ > 100) return;
      for (let at = records.length - 1; at >= 0; at--) {
        if (!stays.has(records[at]) && next() < 0.2) records.splice(at, 1);
      }
      for (let count = Math.floor(next() * 30); count > 0; count--) records.splice(place(records.length), 0, fresh++);
    });
    assert.equal(new Set(found).size, found.length, `seed ${seed}`);
    assert.deepEqual(found.filter((record) => stays.has(record)), order, `seed ${seed}`);
  }
});

/** A service whose lists change after their first page was read. */
async function changing(t, name, ids, change) {
  let all = [...ids];
  const { client } = await stub(t, ({ target }) => {
    const query = new URL(target, "http://localhost").searchParams;
    const page = Number(query.get("page"));
    const { data, perPage, lastPage, total } = pageOf(all, page, Number(query.get("per_page")));
    if (page === 1) all = change(all);
    const meta = { current_page: page, from: 1, to: 1, total, last_page: lastPage, per_page: perPage, path: "/" };
    return { body: { data: data.map((id) => ({ [name]: id })), meta } };
  });
  return client();
}

const IDS = Array.from({ length: 60 }, (_, number) => `id-${number}`);
const grown = (all) => [`new-${all.length}`, ...all];
const shrunk = (all) => all.slice(3);

for (const [list, name, change] of [
  [(client) => client.orders.all({ perPage: 20 }), "orderId", grown],
  [(client) => client.replenishments.all({ perPage: 20 }), "replenishmentId", grown],
  [(client) => client.limits.all({ perPage: 20 }), "setLimitsCardsId", grown],
  [(client) => client.cards.allTransactions("0f8fad5b-d9cb-469f-a165-70867728950e", { perPage: 20 }), "id", grown],
  [(client) => client.cards.allAvailable({ perPage: 20 }), "idCard", shrunk],
  [(client) => client.employees.all({ perPage: 20 }), "idEmployee", shrunk],
]) {
  test(`a list of ${name} that changes meanwhile repeats and hides nothing`, async (t) => {
    const found = [];
    for await (const record of list(await changing(t, name, IDS, change))) found.push(record[name]);
    assert.deepEqual(found, IDS);
  });
}

test("a list of categories that shrinks meanwhile hides nothing", async (t) => {
  const ids = Array.from({ length: 250 }, (_, number) => `id-${number}`);
  const found = [];
  for await (const { idCategory } of (await changing(t, "idCategory", ids, shrunk)).categories.all()) found.push(idCategory);
  assert.deepEqual(found, ids);
});
