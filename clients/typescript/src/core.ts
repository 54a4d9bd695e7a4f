/** The way of a call through the client. */

import { type Call, checkedIds, checkedMonth } from "./call.js";
import { randomHex } from "./bytes.js";
import { ApiError, ConfigError, KopeckError } from "./errors.js";
import type { Operation } from "./operation.js";
import { type RetryPolicy, retrying } from "./retry.js";
import { bearer, type Session, type Tokens } from "./session.js";
import type { TaggedAnswer, Transport } from "./transport.js";

/** Of any call. */
export interface CallOptions {
  /** Calls it off: it then rejects with the signal's reason. What was sent already may be done all the same. */
  readonly signal?: AbortSignal | undefined;
}

/** Of a call that changes something. */
export interface ChangeOptions extends CallOptions {
  /**
   * A key of your own, 1 to 255 visible ASCII characters. A call repeated under its key is answered as the first time,
   * and changes nothing again. By default each call has a fresh one, and keeps it through its retries.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Of a change of one version alone. */
export interface UpdateOptions extends ChangeOptions {
  /**
   * The `etag` of the version that you have read. The call then rejects with `precondition_failed` if it has changed since.
   */
  readonly ifMatch?: string | undefined;
}

/** Of a new order, top-up request or change of limits. */
export interface RequestOptions extends ChangeOptions {
  /**
   * What you call it, such as its number in your books: 1 to 64 letters, digits, blanks and `-_./#`. It need not be unique.
   */
  readonly reference?: string | undefined;
}

/** What a call is made of beside its operation. What is `undefined` is left out. */
export interface Parts extends UpdateOptions {
  /** The identifier in the path, or several in their order. */
  readonly id?: string | readonly string[];
  readonly month?: string;
  /** The media type of a file to ask for in place of JSON. */
  readonly accept?: string;
  readonly query?: object;
  readonly body?: object;
}

const KEY = /^[!-~]{1,255}$/;

/** What all groups of calls go through. */
export class Core {
  readonly session: Session;
  readonly #transport: Transport;
  readonly #retry: RetryPolicy;

  constructor(transport: Transport, session: Session, retry: RetryPolicy) {
    this.#transport = transport;
    this.session = session;
    this.#retry = retry;
  }

  /** Brings one logical call through: every try is the same call under the same key, with a nonce of its own. */
  async call(operation: Operation, parts: Parts = {}): Promise<unknown> {
    return (await this.tagged(operation, parts)).value;
  }

  /** The same, with the entity tag of the answer. */
  async tagged(operation: Operation, parts: Parts = {}): Promise<TaggedAnswer> {
    const given = Object.entries(parts.query ?? {}).filter(([, value]) => value !== undefined);
    const call: Call = {
      operation,
      values: parts.month === undefined ? checkedIds(operation, [parts.id ?? []].flat()) : [checkedMonth(parts.month)],
      accept: parts.accept,
      query: Object.fromEntries(given) as Record<string, string | number>,
      body: parts.body === undefined ? undefined : JSON.stringify(parts.body),
      key: operation.changes ? checkedKey(parts.idempotencyKey) : undefined,
      ifMatch: checkedTag(parts.ifMatch),
    };
    try {
      return await retrying(this.#retry, () => this.#attempt(call, parts.signal), (error) => error.isTransient, parts.signal);
    } catch (error) {
      const reason = error instanceof NoTokens ? error.reason : error;
      if (reason instanceof KopeckError) reason.idempotencyKey = call.key;
      throw reason;
    }
  }

  async #attempt(call: Call, signal?: AbortSignal): Promise<TaggedAnswer> {
    signal?.throwIfAborted();
    const tokens = await final(this.session.tokens(signal));
    try {
      return await this.#transport.send(call, bearer(tokens), signal);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
    }
    return this.#transport.send(call, bearer(await final(this.session.tokensAfter(tokens, signal))), signal);
  }
}

/**
 * A fresh idempotency key: the time in milliseconds and 80 random bits. Keys that ascend with time stand side by side
 * where the service records them, which costs it less.
 */
export function newKey(): string {
  return Date.now().toString(16).padStart(12, "0") + randomHex(10);
}

function checkedKey(given: string | undefined): string {
  if (given === undefined) return newKey();
  if (!KEY.test(given)) throw new ConfigError("an idempotency key is 1 to 255 visible ASCII characters");
  return given;
}

function checkedTag(given: string | undefined): string | undefined {
  if (given !== undefined && !KEY.test(given)) throw new ConfigError("an entity tag consists of visible ASCII characters");
  return given;
}

/** The session has no tokens. It has tried again by itself, so that no retry of the call shall do it again. */
class NoTokens {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}

function final(tokens: Promise<Tokens>): Promise<Tokens> {
  return tokens.catch((reason: unknown) => {
    throw new NoTokens(reason);
  });
}
