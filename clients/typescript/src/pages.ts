/** Lists come in pages. */

import { type Json, listOf, objectOf } from "./answer.js";
import { DecodeError } from "./errors.js";

/** Which page of a list to read. */
export interface Paging {
  /** The number of the page, from 1. Default: the first. */
  readonly page?: number | undefined;
  /** The records on a page, 1 to 500. Default: 15, for transactions 100. */
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

/** The records of a whole list, read page by page as they are asked for. */
export async function* everyRecord<T>(read: (page: number) => Promise<Page<T>>): AsyncGenerator<T, void, undefined> {
  for (let number: number | undefined = 1; number !== undefined; ) {
    const page: Page<T> = await read(number);
    yield* page.data;
    number = page.next;
  }
}
