/** What moved on the partner's balance and on its cards. */

import { objectOf } from "../answer.js";
import type { CallOptions, Core } from "../core.js";
import { DecodeError } from "../errors.js";
import type {
  BalanceEntry,
  EntryType,
  Language,
  PartnerTransaction,
  Report,
  ReportClosed,
  Statement,
  TransactionFeed,
  TransactionType,
} from "../models/generated.js";
import type { Day, FileFormat, Id, PeriodBalances } from "../models/values.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as } from "../read.js";

export const MEDIA_TYPES: Readonly<Record<FileFormat, string>> = {
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "excel-csv": "text/csv; profile=excel",
  "1c": "text/plain; profile=1c",
  camt: "application/xml; profile=camt.053",
};

/** Which entries of the balance to list. By default all. */
export interface EntryFilter {
  /** Those of this day and later. */
  readonly from?: Day | undefined;
  /** Those of this day and earlier. */
  readonly to?: Day | undefined;
  readonly type?: EntryType | undefined;
}

/** Which transactions of all cards to read. By default all. */
export interface TransactionFeedFilter {
  /** The number after which to begin: `next` of the last answer. Default 0: the first. */
  readonly after?: number | undefined;
  /** Those executed on this day and later. */
  readonly from?: Day | undefined;
  /** Those executed on this day and earlier. */
  readonly to?: Day | undefined;
  readonly type?: TransactionType | undefined;
  readonly idCard?: Id | undefined;
  /** Those of the cards that this employee has. */
  readonly idEmployee?: Id | undefined;
}

/** Which employees a report has. By default all. */
export interface ReportFilter {
  /** Those of this category. */
  readonly idCategory?: Id | undefined;
  /** Those whom runs of this programme gave something; `given` is only that. */
  readonly idProgramme?: Id | undefined;
}

/** Which transactions of all cards to read, and how many. */
export interface TransactionFeedQuery extends TransactionFeedFilter {
  /** The most transactions, 1 to 1,000. Default: 100. */
  readonly limit?: number | undefined;
}

/** Calls about entries of the balance and transactions of all cards. */
export class Statements {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Lists the entries of the balance, the oldest first, with the balances at the ends of the period, which do not depend on
   * the type.
   */
  async entries(filter: EntryFilter & Paging = {}, options?: CallOptions): Promise<Page<BalanceEntry> & PeriodBalances> {
    const answer = await this.#core.call(operations.BALANCE_ENTRIES, { ...options, query: listQuery(filter) });
    const { data, meta, ...ends } = objectOf(answer);
    return { ...pageOf<BalanceEntry>(answer, (item) => as(item)), ...as<PeriodBalances>(ends) };
  }

  /** All entries of the balance, read page by page as they are asked for. */
  allEntries(filter: EntryFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<BalanceEntry, void, undefined> {
    const read = (paging: Paging) => this.entries({ ...filter, ...paging }, options);
    return everyRecord(read, ({ seq }) => seq, filter.perPage);
  }

  /** Reads what moved on the balance in a month, such as `2026-01`. */
  async month(month: string, options?: CallOptions): Promise<Statement> {
    return as(await this.#core.call(operations.STATEMENT, { ...options, month }));
  }

  /**
   * Reads a month as a file. It is not sealed, even if the client seals. `lang` is the language of a file for people, by
   * default English.
   */
  async file(
    month: string,
    format: FileFormat,
    options?: CallOptions & { readonly lang?: Language | undefined },
  ): Promise<Uint8Array> {
    const { lang, ...others } = options ?? {};
    const call = { ...others, month, query: { lang }, accept: MEDIA_TYPES[format] };
    const answer = await this.#core.call(operations.STATEMENT, call);
    if (!(answer instanceof Uint8Array)) throw new DecodeError("the answer is no file");
    return answer;
  }

  /** Reads what moved on the cards of each employee in a month. */
  async report(month: string, filter: ReportFilter = {}, options?: CallOptions): Promise<Report> {
    return as(await this.#core.call(operations.REPORT_EMPLOYEES, { ...options, month, query: filter }));
  }

  /** Reads the report of a month as a file, in the language `lang` if it is for people, by default English. */
  async reportFile(
    month: string,
    format: FileFormat,
    filter: ReportFilter & { readonly lang?: Language | undefined } = {},
    options?: CallOptions,
  ): Promise<Uint8Array> {
    const call = { ...options, month, query: filter, accept: MEDIA_TYPES[format] };
    const answer = await this.#core.call(operations.REPORT_EMPLOYEES, call);
    if (!(answer instanceof Uint8Array)) throw new DecodeError("the answer is no file");
    return answer;
  }

  /** Closes a month that is over: its report no longer changes. */
  async closeReport(month: string, options?: CallOptions): Promise<ReportClosed> {
    return as(await this.#core.call(operations.REPORT_CLOSE, { ...options, month, body: {} }));
  }

  /** Reads transactions of all cards, in the order in which the service received them. */
  async transactions(query: TransactionFeedQuery = {}, options?: CallOptions): Promise<TransactionFeed> {
    return as(await this.#core.call(operations.TRANSACTION_FEED, { ...options, query }));
  }

  /** The transactions of all cards behind a number, until there are no more. */
  async *allTransactions(
    filter: TransactionFeedFilter = {},
    options?: CallOptions,
  ): AsyncGenerator<PartnerTransaction, void, undefined> {
    let after = filter.after ?? 0;
    for (;;) {
      const feed = await this.transactions({ ...filter, after, limit: 1_000 }, options);
      if (feed.data.length === 0) return;
      after = feed.next;
      yield* feed.data;
    }
  }
}
