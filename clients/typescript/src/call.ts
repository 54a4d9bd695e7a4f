/** A call before it is sent, and how it is written, in clear or sealed. */

import { ConfigError, SealingError } from "./errors.js";
import type { Operation } from "./operation.js";
import { boundPath, keyNamed, open, seal, type SealingKey } from "./sealing.js";

export const JSON_TYPE = "application/json";
export const SEALED_TYPE = "application/sealed+json";

export type Query = Readonly<Record<string, string | number>>;

/** One logical call. It is written anew for each try, with a nonce of its own. */
export interface Call {
  readonly operation: Operation;
  /** What stands in place of the path's placeholders, in their order. */
  readonly values: readonly string[];
  readonly query: Query;
  readonly body: string | undefined;
  /** The media type of a file to ask for in place of JSON. Files are never sealed. */
  readonly accept?: string | undefined;
  /** Its idempotency key; present if the call changes something. */
  readonly key: string | undefined;
  /** The version that the change is for. */
  readonly ifMatch?: string | undefined;
}

/** A call as it is sent. */
export interface Rendered {
  /** Path and query. */
  readonly target: string;
  readonly body?: string;
  readonly contentType?: string;
}

/** What is sealed, and with what. */
export interface Sealing {
  /** Seals every call, and is the first to open answers. */
  readonly key: SealingKey;
  /** Open answers too: around a rotation the service may seal under the other key. */
  readonly otherKeys: readonly SealingKey[];
  readonly parameters: boolean;
  readonly answers: boolean;
}

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The identifiers in the path of an operation, in their order. */
export function checkedIds(operation: Operation, ids: readonly string[]): readonly string[] {
  const names = namesIn(operation.path);
  const camelCase = (name = "") => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return ids.map((id, place) => checkedId(camelCase(names[place]), id));
}

/** An identifier, as it may stand in a path. The error does not show it: it may be personal. */
export function checkedId(name: string, id: string): string {
  const hint = name === "idEmployee" ? "; a customId is looked up with employees.list({ customId })" : "";
  if (!UUID.test(id)) throw new ConfigError(`${name}: this is no uuid with its hyphens${hint}`);
  return id.toLowerCase();
}

/** A month, as it may stand in a path. */
export function checkedMonth(month: string): string {
  if (!/^[0-9]{4}-[0-9]{2}$/.test(month)) throw new ConfigError("a month is of the form YYYY-MM");
  return month;
}

/** The call in clear. */
export function renderClear(call: Call): Rendered {
  const target = pathWith(call, call.values) + queryText(call.query);
  return call.body === undefined ? { target } : { target, body: call.body, contentType: JSON_TYPE };
}

/** The call with its body sealed and, if that is wanted, its query too. See `sealsIdentifiers`. */
export async function renderSealed(call: Call, sealing: Sealing, nonce: string, nowUnix: number): Promise<Rendered> {
  const { method } = call.operation;
  const path = boundTo(call, sealing);
  const sealed = (slot: string, plaintext: string) =>
    seal(sealing.key, { method, path, nonce, slot }, nowUnix, plaintext);
  const names = namesIn(call.operation.path);
  const values = sealsIdentifiers(call, sealing)
    ? await Promise.all(call.values.map((id, place) => sealed(`path:${names[place]}`, id)))
    : call.values;
  const sealsQuery = sealing.parameters && Object.keys(call.query).length > 0;
  const query = sealsQuery ? { sealed: await sealed("query", JSON.stringify(call.query)) } : call.query;
  const target = pathWith(call, values) + queryText(query);
  if (call.body === undefined) return { target };
  return { target, body: JSON.stringify({ sealed: await sealed("body", call.body) }), contentType: SEALED_TYPE };
}

/** Opens the body of an answer to a call. */
export async function openAnswer(
  call: Call,
  sealing: Sealing,
  nonce: string,
  status: number,
  nowUnix: number,
  body: string,
): Promise<string> {
  const text = envelope(body);
  const key = keyNamed([sealing.key, ...sealing.otherKeys], text, "client");
  const context = { method: call.operation.method, path: boundTo(call, sealing), nonce, status };
  return open(key, context, nowUnix, text);
}

/**
 * As an option, and always where nothing else would show that a change comes from the partner: the policy `required` refuses
 * one without a body and with a clear path.
 */
function sealsIdentifiers(call: Call, sealing: Sealing): boolean {
  return sealing.parameters || (call.operation.changes && call.body === undefined);
}

function boundTo(call: Call, sealing: Sealing): string {
  return boundPath(pathWith(call, sealsIdentifiers(call, sealing) ? call.values.map(() => "*") : call.values));
}

function pathWith(call: Call, values: readonly string[]): string {
  return values.reduce((path, value) => path.replace(/\{\w+\}/, () => value), call.operation.path);
}

/** The names of the placeholders. */
function namesIn(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name ?? "");
}

function queryText(query: Query): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : "";
}

function envelope(body: string): string {
  let sealed: unknown;
  try {
    sealed = (JSON.parse(body) as { sealed?: unknown } | null)?.sealed;
  } catch {
    sealed = undefined;
  }
  if (typeof sealed !== "string") throw new SealingError("the answer is no sealed body");
  return sealed;
}
