/**
 * Generates operations, words, models and types of events from docs/openapi.json. `npm run build` does that.
 *
 * Names of the client differ from those of the document here and there: this says where.
 */

import { readFileSync, writeFileSync } from "node:fs";

const document = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8"));
const schemas = document.components.schemas;

/** Enums go by the names of their schemas but for these. */
const RENAMED = { ErrorCode: "Code", LimitPeriod: "Period" };
const enums = Object.keys(schemas).filter((name) => schemas[name].enum && name !== "EventType");
const WORDS = {
  ...RENAMED,
  ...Object.fromEntries(enums.filter((name) => !Object.values(RENAMED).includes(name)).map((name) => [name, name])),
};

/**
 * Models that are special; the other bodies of responses go by the names of their schemas.
 *
 * A model is made of the schema of its name or of `schema`; `schema.field` are the items of a field.
 *
 * `base`: the model that it extends. `omit`: fields that it has not. `optional`: fields that may be absent, or true for all.
 * `input`: it is sent, so what may be absent may be undefined, and is `null` only if that is said to mean something.
 * `types`: in place of those of the document. `about`: its description, if the schema has none.
 */
const MODELS = {
  CategoryWithCount: { schema: "CategoryInList", base: "Category" },
  Employee: { types: { phone: "string | null" } },
  EmployeeCard: { schema: "LinkedCard" },
  EmployeeWithCards: { base: "Employee" },
  NewEmployee: { schema: "EmployeeAddRequest", input: true },
  EmployeeUpdate: { schema: "EmployeeUpdateRequest", input: true, takesNull: true },
  TimeWindow: { schema: "Window" },
  CardLimit: { schema: "Limit", optional: true },
  PaymentDetails: { schema: "CardCanPayRequest", input: true, omit: ["amount"] },
  AccountBalance: { schema: "CardAccount" },
  Card: { base: "CardBalance" },
  AvailableCard: { schema: "UnassignedCard" },
  LinkedCard: { schema: "Link" },
  UnlinkedCard: { schema: "Unlinked" },
  PaymentAnswer: { schema: "Forecast" },
  RequestStatus: { schema: "OrderState" },
  PlasticItem: { schema: "OrderPlasticRequest.data", input: true, about: "Plastic cards to order." },
  VirtualItem: {
    schema: "OrderVirtualRequest.data",
    input: true,
    optional: ["typeCard"],
    types: { amount: "number", typeCard: "CardType" },
    about: "Virtual cards to order.",
  },
  IssuedCard: { schema: "OrderedCard", types: { activationCode: "Secret" } },
  OrderResult: { omit: ["orderId"] },
  CardRef: { schema: "LimitsSetRequest.data", input: true, about: "A card, by exactly one of its names." },
  TopUp: { schema: "ReplenishmentCreateRequest.cards", input: true, about: "A main card to top up." },
  LimitResult: { schema: "LimitChangeResult" },
  CardClosing: { schema: "ClosingCreateRequest.data", input: true, about: "A card to close, and why." },
  Closing: { types: { amount: "null" } },
  CardWithdrawal: { schema: "WithdrawalCreateRequest.data", input: true, about: "A card to take money from." },
  NewRun: {
    schema: "RunCreateRequest",
    input: true,
    types: { items: "readonly Readonly<Record<string, unknown>>[]" },
    about: "Changes for many people.",
  },
  ProgrammeFor: { optional: true },
  ProgrammeAmount: { optional: true },
  NewProgramme: {
    schema: "ProgrammeCreateRequest",
    input: true,
    types: { for: "ProgrammeFor", amount: "ProgrammeAmount", statuses: "readonly EmployeeStatus[]" },
    about: "The terms of a programme.",
  },
  NewPurchase: { schema: "SandboxPurchaseRequest", input: true },
  BankBehaviour: { schema: "SandboxBankRequest", input: true },
  PartnerTransaction: { base: "Transaction" },
  WebhookCreated: { base: "Webhook", types: { secret: "Secret" } },
  WebhookDisabledEvent: { types: { reason: '"gone" | "failing" | "operator" | (string & {})' } },
  NewWebhook: { schema: "WebhookCreateRequest", input: true, types: { types: "readonly string[] | null" } },
  WebhookChange: { schema: "WebhookUpdateRequest", input: true, takesNull: true },
};

/** Bodies of responses without a model. */
const LEFT_OUT =
  /^(\w+(Page|Data|Accepted|Event|State)|BalanceEntries|Done|Event|EventType|Feed|Link|PageMeta|Refund|Sealed|SealedText|Tokens|Webhook(Pinged|Redelivery|Secret))$/;
const taken = new Set([...Object.entries(MODELS).map(([name, { schema = name }]) => schema), ...Object.values(WORDS)]);
const found = new Set();
function find(part) {
  for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (!found.has(name)) {
      found.add(name);
      find(schemas[name]);
    }
  }
}
for (const { responses } of Object.values(document.paths).flatMap(Object.values)) {
  for (const [status, response] of Object.entries(responses ?? {})) if (status.startsWith("2")) find(response);
}
for (const name of [...found].sort()) if (!taken.has(name) && !LEFT_OUT.test(name)) MODELS[name] = {};

/** Fields that are called otherwise. */
const FIELDS = {
  ...{ updateAt: "updatedAt", message: "state", "RequestStatus.orderId": "id" },
  ...{ amountReplenishment: "amount", amountReturned: "amount", amountWithdrawn: "amount" },
  ...{ resultReplenishment: "succeeded", resultClosing: "succeeded", resultWithdrawal: "succeeded", resultLimit: "succeeded" },
  ...{ errorReplenishment: "error", errorClosing: "error", errorWithdrawal: "error", errorLimit: "error" },
};
const FORMS = { uuid: "Id", "DD.MM.YYYY": "Day", "DD.MM.YYYY HH:MM": "Moment" };
const SCALARS = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

const named = Object.fromEntries([
  ...Object.entries(MODELS).map(([name, { schema = name }]) => [schema, name]),
  ...Object.entries(WORDS).map(([name, schema]) => [schema, name]),
  ["EventType", "string"],
]);

function typeOf(schema) {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return named[name] ?? name;
  }
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" | ");
  const form = FORMS[schema["x-form"] ?? schema.format];
  const one = (kind) =>
    kind === "array" ? `readonly ${typeOf(schema.items)}[]` : kind === "string" && form ? form : SCALARS[kind];
  return [schema.type].flat().map(one).join(" | ");
}

function doc(text, indent = "") {
  if (!text) return "";
  return `${indent}/** ${text.replaceAll("*/", "* /").replaceAll("\n", `\n${indent} * `)} */\n`;
}

function model(name, special) {
  const { schema = name, base, omit = [], optional = [], input = false, takesNull = false, types = {}, about } = special;
  const [whole, items] = schema.split(".");
  const body = items ? schemas[whole].properties[items].items : schemas[whole];
  const inherited = base ? Object.keys(schemas[MODELS[base].schema ?? base].properties) : [];
  const leftOut = new Set(["success", ...omit, ...inherited]);
  const fields = Object.entries(body.properties).filter(([wire]) => !leftOut.has(wire));
  const lines = fields.map(([wire, field]) => {
    const mayBeAbsent = optional === true || optional.includes?.(wire) || !body.required?.includes(wire);
    let type = types[wire] ?? typeOf(field);
    if (mayBeAbsent && optional !== true && !takesNull && !types[wire]) type = type.replace(/ \| null$/, "");
    if (mayBeAbsent && input) type += " | undefined";
    const given = FIELDS[`${name}.${wire}`] ?? FIELDS[wire] ?? wire;
    const { minimum, maximum, "x-form": form } = field;
    const bounds = minimum === undefined || maximum === undefined ? "" : `${minimum} to ${maximum}.`;
    const text = [field.description ?? (form in FORMS ? undefined : form), bounds].filter(Boolean).join(" ");
    return `${doc(text, "  ")}  readonly ${given}${mayBeAbsent ? "?" : ""}: ${type};\n`;
  });
  return `${doc(body.description ?? about)}export interface ${name}${base ? ` extends ${base}` : ""} {\n${lines.join("")}}\n`;
}

function word(name, schema) {
  const { description, enum: values } = schemas[schema];
  return `${doc(description)}export type ${name} = ${values.map((value) => `"${value}"`).join(" | ")} | Other;\n`;
}

function events() {
  return Object.values(document.webhooks).map(({ post }) => {
    const [, { properties }] = post.requestBody.content["application/json"].schema.allOf;
    return { type: properties.type.const, summary: post.summary, data: typeOf(properties.data) };
  });
}

function eventData() {
  const isEmpty = (data) => Object.keys(schemas[data]?.properties ?? { some: 1 }).length === 0;
  const names = new Set(events().map(({ data }) => data).filter((data) => !(data in MODELS) && !isEmpty(data)));
  const lines = events().map(({ type, summary, data }) => {
    return `${doc(summary, "  ")}  readonly "${type}": ${isEmpty(data) ? "Readonly<Record<string, never>>" : data};\n`;
  });
  const about = "What an event tells, by its type. Identifiers are those of the reference; money is in kopecks.";
  return [...[...names].map((data) => model(data, {})), `${doc(about)}export interface EventData {\n${lines.join("")}}\n`];
}

function operations() {
  const lines = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // `PUT` includes `PATCH`.
      .filter(([method, { operationId }]) => operationId !== undefined && method !== "patch")
      .map(([method, operation]) => {
        const name = operation.operationId.replaceAll(".", "_").toUpperCase();
        const value = { method: method.toUpperCase(), path, changes: operation["x-changes"] };
        return `export const ${name}: Operation = ${JSON.stringify(value)};\n`;
      }),
  );
  return `import type { Operation } from "./operation.js";\n\n${lines.join("")}`;
}

const head = "// Generated by tools/generate.js from docs/openapi.json.\n";
const models = [
  'import type { Day, Id, Moment } from "./values.js";\nimport type { Secret } from "../secret.js";\n',
  "type Other = string & Record<never, never>;\n",
  ...Object.entries(WORDS).map(([name, schema]) => word(name, schema)),
  ...Object.entries(MODELS).map(([name, special]) => model(name, special)),
  ...eventData(),
];
const eventTypes = events().map(({ type }) => `  "${type}",\n`);
const files = {
  "operations.ts": operations(),
  "models/generated.ts": models.join("\n"),
  "models/event-types.ts": `export const EVENT_TYPES = [\n${eventTypes.join("")}] as const;\n`,
};
for (const [name, text] of Object.entries(files)) writeFileSync(new URL(`../src/${name}`, import.meta.url), head + text);
