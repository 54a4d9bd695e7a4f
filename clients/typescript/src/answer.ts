/** What an answer says: its value, or the error that it stands for. */

import { ApiError, type CardFault, CardsError, DecodeError, type FieldFault, InvalidError } from "./errors.js";

/** The most characters of a foreign error page that are kept as its message. */
const MAX_FOREIGN_MESSAGE = 200;

export type Json = Readonly<Record<string, unknown>>;

/** The JSON of a success; an answer without a body is `null`. */
export function valueOf(text: string): unknown {
  const value = parsed(text || "null");
  if (value === undefined) throw new DecodeError("the answer is no JSON");
  return value;
}

/** The error that an answer other than 2xx stands for. `note` is what the client itself knows of faulty values. */
export function errorOf(status: number, headers: Headers, text: string, note?: string): ApiError {
  const details = {
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: milliseconds(headers.get("retry-after")),
    note,
  };
  const said = parsed(text);
  if (status === 422 && isObject(said) && Array.isArray(said.data) && said.data.every(isFieldFault)) {
    return new InvalidError(said.data, details);
  }
  if (Array.isArray(said) && said.every(isCardFault)) return new CardsError(status, said, details);
  if (isObject(said) && typeof said.message === "string") {
    return new ApiError(status, typeof said.code === "string" ? said.code : undefined, said.message, details);
  }
  return new ApiError(status, undefined, text.trim().slice(0, MAX_FOREIGN_MESSAGE), details);
}

/** An answer that is an object. */
export function objectOf(value: unknown): Json {
  if (!isObject(value)) throw new DecodeError("the answer is no object");
  return value;
}

/** The objects that an answer lists under `data`. */
export function listOf(value: unknown): readonly Json[] {
  const { data } = objectOf(value);
  if (!Array.isArray(data) || !data.every(isObject)) throw new DecodeError("the answer has no list of objects under data");
  return data;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFieldFault(value: unknown): value is FieldFault {
  return isObject(value) && typeof value.field === "string" && typeof value.message === "string";
}

function isCardFault(value: unknown): value is CardFault {
  return isObject(value) && typeof value.message === "string";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function milliseconds(seconds: string | null): number | undefined {
  return seconds !== null && /^\d+$/.test(seconds.trim()) ? Number(seconds) * 1_000 : undefined;
}
