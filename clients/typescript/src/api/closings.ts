/** Closings of cards. */

import { listOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core, RequestOptions } from "../core.js";
import type { CardClosing, Closing, ClosingResult, Id, RequestStatus } from "../models/values.js";
import type { RequestState } from "../models/words.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, closingResult, requestStatus, text } from "../read.js";
import { untilFinal, type WaitOptions } from "../wait.js";
import type { RequestFilter } from "./orders.js";

/** Calls about closings. */
export class Closings {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Asks to close 1 to 10,000 cards for good, each once, and gives the closing's identifier. What is on them comes back to the
   * balance.
   *
   * Rejects with `CardsError` if some of them prevent it; then none is closed.
   */
  async create(cards: readonly CardClosing[], options?: RequestOptions): Promise<Id> {
    const body = { data: cards, reference: options?.reference };
    return text(await this.#core.call(operations.CREATE_CLOSING, { ...options, body }), "closingId");
  }

  /** Reads the state of a closing. */
  async status(closingId: Id, options?: CallOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.CLOSING_STATUS, { ...options, id: closingId }));
  }

  /** Waits until a closing is processed. Rejects with `UnfinishedError` if that takes too long. */
  wait(closingId: Id, options: WaitOptions = {}): Promise<RequestState> {
    return untilFinal(async () => (await this.status(closingId, options)).state, options);
  }

  /** Reads the result of each card. Rejects with `ApiError` and 409 while there is no result. */
  async result(closingId: Id, options?: CallOptions): Promise<readonly ClosingResult[]> {
    const answer = await this.#core.call(operations.CLOSING_RESULT, { ...options, id: closingId });
    return listOf(answer).map(closingResult);
  }

  /** Cancels a closing that is still new. One of lost and stolen cards alone cannot be cancelled. */
  async cancel(closingId: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.CANCEL_CLOSING, { ...options, id: closingId }));
  }

  /** Lists closings, the newest first. */
  async list(filter: RequestFilter & Paging = {}, options?: CallOptions): Promise<Page<Closing>> {
    const answer = await this.#core.call(operations.LIST_CLOSINGS, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All closings, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: RequestFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<Closing, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ closingId }) => closingId, filter.perPage);
  }
}
