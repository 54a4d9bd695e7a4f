/** Events: what has happened to the partner's data. */

import { EVENT_TYPES } from "./event-types.js";
import type { EventData } from "./generated.js";
import type { Id } from "./values.js";

/** An event of a type. */
export interface EventOf<T extends string, D> {
  /** Its identifier: an event that is sent again is recognised by it. */
  readonly id: Id;
  /** Its number in the feed. An event that becomes visible later has a greater one. */
  readonly seq: number;
  readonly type: T;
  /** When it happened, by RFC 3339 in UTC: `2026-01-31T09:30:00Z`. */
  readonly createdAt: string;
  readonly data: D;
}

/** An event of a type that this version knows: its `type` tells the form of its `data`. */
export type KnownEvent = { [T in keyof EventData]: EventOf<T, EventData[T]> }[keyof EventData];

/** Something that happened once. A newer service may have further types: pass over those. See {@link isKnown}. */
export type Event = KnownEvent | EventOf<string & {}, unknown>;

const KNOWN = new Set<string>(EVENT_TYPES satisfies readonly (keyof EventData)[]);

/** Whether this version knows the type of an event. */
export function isKnown(event: Event): event is KnownEvent {
  return KNOWN.has(event.type);
}

/** A piece of the feed. */
export interface Feed {
  /** The events, in the order of their numbers. */
  readonly data: readonly Event[];
  /** The `after` of the following call. */
  readonly next: number;
  /** The least number that is kept. */
  readonly oldest: number;
  /** The greatest number that was given; one less than `oldest` if there is no event. An older service does not say it. */
  readonly newest?: number;
}
