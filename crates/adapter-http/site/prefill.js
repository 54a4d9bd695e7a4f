// What the forms of "Try it" are filled with, so that the first call works in an empty sandbox, and so does every further
// one: fresh names and numbers, and identifiers that are looked up among what the partner has. What changes something outside
// of a sandbox has nothing of that.

import { loginName, lookUp, PASSWORD, REFRESH_TOKEN } from "./session.js";

/** The operation that makes what a field names. */
const NEEDS = {
  idCategory: "category.create", idEmployee: "employee.add", customIdCard: "order.virtual", idCard: "order.virtual",
  orderId: "order.virtual", order_id: "order.virtual", replenishmentId: "replenishment.create",
  idReplenishment: "replenishment.create", setLimitsCardsId: "limits.set",
  withdrawalId: "withdrawal.create", closingId: "closing.create", transactionId: "sandbox.purchase",
};

/** Values that are new each time. */
const FRESH = {
  customId: () => `T-${digits(6)}`,
  phone: () => `903${digits(7)}`,
  nameCategory: () => `Category ${digits(6)}`,
};

/** This month, as the API takes it. */
const thisMonth = () => new Date().toLocaleDateString("sv").slice(0, 7);

/** States of a request whose result can be read. */
const DONE = ["SUCCESS", "PART_SUCCESS", "DECLINE"];

const anyCard = async ask => (await mainCard(ask)) ?? (await freeCard(ask));

/** How an identifier is looked up, by its name. */
const LOOKED_UP = {
  idCategory: last("categories", "idCategory"),
  idEmployee: async ask => (await people(ask))[0]?.idEmployee,
  customIdCard: first("cards/available", "customIdCard"),
  idCard: anyCard,
  orderId: first("orders", "orderId"),
  order_id: first("orders", "orderId"),
  replenishmentId: first("replenishments", "replenishmentId"),
  idReplenishment: first("replenishments", "replenishmentId"),
  setLimitsCardsId: first("limits", "setLimitsCardsId"),
  withdrawalId: first("withdrawals", "withdrawalId"),
  closingId: first("closings", "closingId"),
};

/** Where an operation needs one in a certain state, or a body other than its example. */
const OF_OPERATION = {
  "token.access": { body: () => ({ login: loginName(), password: PASSWORD }) },
  "token.refresh": { body: () => ({ token: REFRESH_TOKEN }) },
  "category.delete": { idCategory: last("categories", "idCategory", category => category.employees === 0) },
  // Cancelling or confirming once more changes nothing.
  "order.cancel": { orderId: first("orders", "orderId", "NEW", "REJECTED") },
  "order.confirm": { orderId: first("orders", "orderId", "SUCCESS", "CONFIRMED") },
  "order.result": { order_id: first("orders", "orderId", "SUCCESS", "CONFIRMED") },
  "card.link": {
    idEmployee: async ask => (await toLink(ask))?.idEmployee,
    statusCard: async ask => ((await toLink(ask))?.cards.some(isMain) ? "ADDITIONAL" : "MAIN"),
  },
  "card.switch": {
    idEmployee: async ask => (await toSwitch(ask))?.idEmployee,
    idCard: async ask => (await toSwitch(ask))?.cards.at(-1).idCard,
    statusCard: async ask => {
      const cards = (await toSwitch(ask))?.cards ?? [];
      return cards.some(isMain) ? "ADDITIONAL" : "MAIN";
    },
  },
  "card.unlink": {
    needs: { idEmployee: "sandbox.expire", idCard: "sandbox.expire" },
    idEmployee: first("cards?linked=true&expiresBefore=01.01.2028", "idEmployee"),
    idCard: first("cards?linked=true&expiresBefore=01.01.2028", "idCard"),
  },
  "employee.erase": {
    idEmployee: async ask => (await people(ask)).find(one => one.cards.length === 0)?.idEmployee,
  },
  "replenishment.create": {
    needs: { idCard: "card.link" },
    idCard: async ask => ((await first("replenishments", "status", "NEW", "IN_PROCESS")(ask)) ? undefined : mainCard(ask)),
    amountReplenishment: () => 5000,
  },
  "replenishment.cancel": { replenishmentId: first("replenishments", "replenishmentId", "NEW", "REJECTED") },
  "replenishment.result": { idReplenishment: first("replenishments", "replenishmentId", ...DONE) },
  "replenishment.result_by_path": { replenishmentId: first("replenishments", "replenishmentId", ...DONE) },
  "limits.set": {
    idCard: async ask => ((await first("limits", "status", "NEW", "IN_PROCESS")(ask)) ? undefined : anyCard(ask)),
  },
  "limits.cancel": { setLimitsCardsId: first("limits", "setLimitsCardsId", "NEW", "REJECTED") },
  "limits.result": { setLimitsCardsId: first("limits", "setLimitsCardsId", ...DONE) },
  "withdrawal.create": {
    idCard: async ask => ((await first("withdrawals", "status", "NEW", "IN_PROCESS")(ask)) ? undefined : anyCard(ask)),
    amount: () => 100,
  },
  "withdrawal.cancel": { withdrawalId: first("withdrawals", "withdrawalId", "NEW", "REJECTED") },
  "withdrawal.result": { withdrawalId: first("withdrawals", "withdrawalId", ...DONE) },
  // A card that no employee has: closing is for good.
  "closing.create": {
    idCard: async ask => ((await first("closings", "status", "NEW", "IN_PROCESS")(ask)) ? undefined : freeCard(ask)),
  },
  "closing.cancel": { closingId: first("closings", "closingId", "NEW", "REJECTED") },
  "closing.result": { closingId: first("closings", "closingId", ...DONE) },
  statement: { month: thisMonth },
  "sandbox.activate": { body: () => ({}) },
  "sandbox.expire": { idCard: async ask => (await freeCard(ask)) ?? mainCard(ask) },
  "sandbox.purchase": { amount: () => 1000 },
  "sandbox.refund": {
    transactionId: async ask => {
      const card = await anyCard(ask);
      return card && first(`card/${card}/transactions?type=PAYMENT`, "id")(ask);
    },
    amount: () => 100,
  },
  "sandbox.bank": { body: () => ({ latencyMs: 50 }) },
  "sandbox.clock": { body: () => ({ seconds: 60 }) },
};

/**
 * The values of an operation's parameters by `place:name`, its body, and what nothing was found for, with the operation
 * that makes one. What is optional and not to be found is left out. With `byHand` all that would be looked up or made up is
 * left empty.
 */
export async function prefill({ operationId, inputs, example, required, byHand }) {
  const own = OF_OPERATION[operationId] ?? {};
  const cache = new Map();
  const ask = path => {
    if (!cache.has(path)) cache.set(path, lookUp(path));
    return cache.get(path);
  };
  const missing = [];
  const value = async (name, otherwise, needed) => {
    const find = own[name] ?? FRESH[name] ?? LOOKED_UP[name];
    if (!find) return otherwise;
    if (byHand) return "";
    const found = await find(ask);
    if (found === undefined && needed) missing.push({ name, needs: own.needs?.[name] ?? NEEDS[name] });
    return found;
  };
  const filled = async (object, isNeeded) => {
    const pairs = await Promise.all(Object.entries(object).map(async ([name, old]) =>
      [name, Array.isArray(old) ? await items(old) : await value(name, old, isNeeded(name))]));
    return Object.fromEntries(pairs.filter(([, found]) => found !== undefined));
  };
  // Of cards one is enough, as another is not always there.
  const items = async list => {
    const objects = list.filter(item => item !== null && typeof item === "object");
    if (objects.length === 0) return list;
    const kept = objects.some(item => "idCard" in item) ? objects.slice(0, 1) : objects;
    return Promise.all(kept.map(item => filled(item, () => true)));
  };
  const parameters = inputs.filter(parameter => parameter.required);
  const values = await Promise.all(parameters.map(async ({ in: place, name }) =>
    [`${place}:${name}`, await value(name, undefined, true)]));
  const body = own.body ? own.body() : example && await filled(example, name => required.includes(name));
  return { parameters: new Map(values), body, missing };
}

/** The field of the first record of a list that is in one of these states, the first state before the others; the lists
 * of requests have the newest first. */
function first(list, field, ...states) {
  const path = `/v1/${list}${list.includes("?") ? "&" : "?"}per_page=100`;
  return async ask => {
    const records = (await ask(path))?.data ?? [];
    if (states.length === 0) return records[0]?.[field];
    return states.map(state => records.find(record => record.status === state)).find(Boolean)?.[field];
  };
}

/** That of the last one. */
function last(list, field, fits = () => true) {
  return async ask => (await lastPage(ask, list, 100)).findLast(fits)?.[field];
}

async function lastPage(ask, list, size) {
  const start = await ask(`/v1/${list}?per_page=${size}`);
  if (!start || start.meta.last_page === 1) return start?.data ?? [];
  const before = await ask(`/v1/${list}?per_page=${size}&page=${start.meta.last_page - 1}`);
  const end = await ask(`/v1/${list}?per_page=${size}&page=${start.meta.last_page}`);
  return [...before.data, ...end.data];
}

/** The latest employees, newest first, with their cards. */
async function people(ask) {
  const latest = (await lastPage(ask, "employees", 10)).toReversed();
  const found = await Promise.all(latest.map(one => ask(`/v1/employee/${one.idEmployee}`)));
  return found.filter(Boolean).map(({ data }) => data);
}

async function toLink(ask) {
  const all = await people(ask);
  return all.find(one => !one.cards.some(isMain)) ?? all[0];
}

async function toSwitch(ask) {
  return (await people(ask)).find(one => one.cards.length > 0);
}

async function mainCard(ask) {
  return (await people(ask)).flatMap(one => one.cards).find(isMain)?.idCard;
}

function freeCard(ask) {
  return first("cards/available", "idCard")(ask);
}

function isMain(card) {
  return card.statusCard === "MAIN";
}

function digits(count) {
  const random = crypto.getRandomValues(new Uint32Array(count));
  return Array.from(random, number => number % 10).join("");
}
