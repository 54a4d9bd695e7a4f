/** A walk through a list that changes meanwhile. */

import type { Page } from "./pages.js";

/** Below it there are too few sizes of pages for an overlap at each place. */
const LEAST_SIZE = 20;

/**
 * Which page to read next, and which of its records are new.
 *
 * Pages are numbered, so a record that comes to the list or leaves it shifts those behind it. Each page therefore overlaps
 * what was read before: its size is chosen so that it begins with few records that were read, and the walk goes on behind
 * the last of these. If none of them is there, the records have shifted forward, and the walk goes back. As the order of a
 * list never changes, a record that stays in the list comes exactly once.
 */
export class Walk<T> {
  readonly #most: number;
  readonly #identify: (record: T) => unknown;
  readonly #seen = new Set<unknown>();
  /** How many records of the list are behind. */
  #place = 0;
  #ended = false;

  constructor(perPage: number, identify: (record: T) => unknown) {
    this.#most = Math.max(perPage, LEAST_SIZE);
    this.#identify = identify;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Number and size of the page to read. */
  nextPage(): { page: number; perPage: number } {
    if (this.#place === 0) return { page: 1, perPage: this.#most };
    const lastRead = this.#place - 1;
    let perPage = this.#most;
    for (let size = perPage; size > this.#most / 2; size--) {
      if (lastRead % size < lastRead % perPage) perPage = size;
    }
    return { page: Math.floor(lastRead / perPage) + 1, perPage };
  }

  /** The new records of the page that was read. */
  take({ data, page, perPage, total, next }: Page<T>): readonly T[] {
    const first = (page - 1) * perPage;
    let seen = data.length - 1;
    while (seen >= 0 && !this.#seen.has(this.#identify(data[seen]!))) seen--;
    if (first > 0 && seen === -1) {
      // By half a page, unless the list ends before that.
      this.#place = Math.max(0, Math.min(first, total) - Math.floor(this.#most / 2));
      return [];
    }
    const fresh = data.slice(seen + 1);
    for (const record of fresh) this.#seen.add(this.#identify(record));
    this.#place = first + data.length;
    this.#ended = next === undefined;
    return fresh;
  }
}
