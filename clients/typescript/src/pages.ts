/** Lists come in pages. */

import { type Json, listOf, objectOf } from "./answer.js";
import { DecodeError } from "./errors.js";
import { Walk } from "./walk.js";

/** Which page of a list to read. */
export interface Paging {
  /** The number of the page, from 1. Default: the first. */
  readonly page?: number | undefined;
  /** The records on a page, 1 to 500. Default: 15, for transactions 100. */
  readonly perPage?: number | undefined;
}

/** How much of a whole list to read at a time. */
export interface PageSize {
  /** The most records on a page, 20 to 500. Default: 100. */
  readonly perPage?: number | undefined;
}

/** One page of a list. */
export interface Page<T> {
  /** The records. */
  readonly data: readonly T[];
  /** The number of this page. */
  readonly page: number;
  /** The number of the last page with records, at least 1. */
  readonly lastPage: number;
  /** The records on a page. */
  readonly perPage: number;
  /** How many records the list has. */
  readonly total: number;
  /** The number of the page after this one, if there is one. */
  readonly next: number | undefined;
}

/** The query of a list: what to filter by, and which page. */
export function listQuery({ page, perPage, ...filter }: Paging & object): object {
  return { ...filter, page, per_page: perPage };
}

export function pageOf<T>(answer: unknown, read: (item: Json) => T): Page<T> {
  const data = listOf(answer).map(read);
  const meta = objectOf(objectOf(answer).meta);
  const number = (name: string) => {
    const value = meta[name];
    if (typeof value !== "number") throw new DecodeError(`the answer has no meta.${name}`);
    return value;
  };
  const page = number("current_page");
  const lastPage = number("last_page");
  const next = page < lastPage ? page + 1 : undefined;
  return { data, page, lastPage, perPage: number("per_page"), total: number("total"), next };
}

/**
 * The records of a whole list, read page by page as they are asked for. A record that is in the list the whole time comes
 * exactly once, whatever is added or removed meanwhile. `identify` tells records apart.
 */
export async function* everyRecord<T>(
  read: (paging: Paging) => Promise<Page<T>>,
  identify: (record: T) => unknown,
  perPage = 100,
): AsyncGenerator<T, void, undefined> {
  const walk = new Walk(perPage, identify);
  while (!walk.ended) yield* walk.take(await read(walk.nextPage()));
}
