/** Sessions of one's own login, and the request log. */

import { sleep } from "../abort.js";
import type { CallOptions, ChangeOptions, Core } from "../core.js";
import { DecodeError } from "../errors.js";
import type { LoggedRequest, RequestFeed, Session, SessionEnded } from "../models/generated.js";
import type { Id } from "../models/values.js";
import { REQUEST_LIST, SESSION_END, SESSION_LIST } from "../operations.js";
import { as } from "../read.js";

/** Calls about the sessions of the client's login. */
export class Sessions {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** The active sessions, the oldest first; the one of this client is `current`. */
  async list(options?: CallOptions): Promise<Session[]> {
    const answer = await this.#core.call(SESSION_LIST, options);
    if (!Array.isArray(answer)) throw new DecodeError("the answer is no list");
    return answer.map((item) => as<Session>(item));
  }

  /** Ends a session with all of its tokens, within five seconds everywhere. */
  async end(idSession: Id, options?: ChangeOptions): Promise<SessionEnded> {
    return as(await this.#core.call(SESSION_END, { ...options, id: idSession }));
  }
}

/** Which requests to read. */
export interface RequestLogFilter {
  /**
   * The number after which to begin: `next` of the last answer. A number is never less than the time at which it was given, in
   * microseconds of Unix time, so it can be a time. Default 0: the oldest request that is kept.
   */
  readonly after?: number | undefined;
  /** Only with this HTTP status. */
  readonly status?: number | undefined;
  /** Only of this operation, such as `employee.add`. */
  readonly operation?: string | undefined;
  /** Only with this `x-request-id`. */
  readonly requestId?: string | undefined;
}

/** Which requests to read, and how many. */
export interface RequestLogQuery extends RequestLogFilter {
  /** The most requests, 1 to 500. Default: 100. */
  readonly limit?: number | undefined;
}

/** Milliseconds between two looks of a follower. */
const INTERVAL_MS = 2_000;

/** Calls about the request log: the partner's own requests of the last 14 days. */
export class RequestLog {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Reads a piece of the log. With a filter it may be empty although more follow: read on while `next` grows. */
  async list(query: RequestLogQuery = {}, options?: CallOptions): Promise<RequestFeed> {
    return as(await this.#core.call(REQUEST_LIST, { ...options, query: { ...query } }));
  }

  /** The requests after a number as they come, without end. */
  async *follow(
    { after = 0, ...filter }: RequestLogFilter = {},
    options?: CallOptions,
  ): AsyncGenerator<LoggedRequest, never, undefined> {
    for (;;) {
      const { data, next } = await this.list({ ...filter, after }, options);
      yield* data;
      if (next === after) await sleep(INTERVAL_MS, options?.signal);
      after = next;
    }
  }
}
