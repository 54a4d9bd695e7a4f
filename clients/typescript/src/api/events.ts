/** The feed of events. */

import type { CallOptions, Core } from "../core.js";
import type { Event, Feed } from "../models/events.js";
import { EVENT_FEED } from "../operations.js";
import { as } from "../read.js";

/** Where in the feed to begin, and with which types. */
export interface EventFilter {
  /** The number after which to begin: `next` of the last answer. Default 0: the oldest event that is kept. */
  readonly after?: number | undefined;
  /** Whether to begin after the newest event instead: from now on. */
  readonly fromNow?: boolean | undefined;
  /** Only events of these types. Default: all. */
  readonly types?: readonly string[] | undefined;
}

/** Which events to read. */
export interface EventQuery extends EventFilter {
  /** The most events, 1 to 500. Default: 100. */
  readonly limit?: number | undefined;
  /** How many seconds the service waits for an event if there is none, 0 to 30; fewer than the client's timeout. */
  readonly wait?: number | undefined;
}

/** Seconds that a follower lets the service wait for an event; a call may take thirty. */
const WAIT = 20;

/** Calls about the feed of events. */
export class Events {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Reads a piece of the feed. Rejects with `ApiError`, 410 and the code `events_expired` if events after the number are no
   * longer kept, `events_ahead` if there is none with that number yet: the feed is another one than it was.
   */
  async list({ types, fromNow, ...query }: EventQuery = {}, options?: CallOptions): Promise<Feed> {
    const named = types?.length ? types.join(",") : undefined;
    const after = fromNow ? "newest" : query.after;
    return as(await this.#core.call(EVENT_FEED, { ...options, query: { ...query, after, types: named } }));
  }

  /**
   * The events after a number, or from now on, as they come, without end. Store the `seq` of each with what it changed.
   * Rejects as `list` does.
   */
  async *follow(
    { after = 0, fromNow, types }: EventFilter = {},
    options?: CallOptions,
  ): AsyncGenerator<Event, never, undefined> {
    for (;;) {
      const { data, next } = await this.list({ after, fromNow, types, wait: WAIT }, options);
      yield* data;
      [after, fromNow] = [next, false];
    }
  }
}
