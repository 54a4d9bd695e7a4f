/** Top-ups of cards. */

import { listOf } from "../answer.js";
import { checkedId } from "../call.js";
import type { CallOptions, ChangeOptions, Core, RequestOptions } from "../core.js";
import type { Id, Replenishment, ReplenishmentResult, RequestStatus, TopUp } from "../models/values.js";
import type { RequestState } from "../models/words.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, replenishmentResult, requestStatus, text } from "../read.js";
import { untilFinal, type WaitOptions } from "../wait.js";
import type { RequestFilter } from "./orders.js";

/** Calls about top-ups of cards. */
export class Replenishments {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Asks for top-ups of 1 to 10,000 cards, each once, and gives the request's identifier.
   *
   * Rejects with `CardsError` if some of them prevent it; then none is topped up.
   */
  async create(topUps: readonly TopUp[], options?: RequestOptions): Promise<Id> {
    const cards = topUps.map(({ idCard, amount }) => ({ idCard, amountReplenishment: amount }));
    const body = { cards, reference: options?.reference };
    return text(await this.#core.call(operations.REPLENISH, { ...options, body }), "replenishmentId");
  }

  /** Reads the state of a request. */
  async status(replenishmentId: Id, options?: CallOptions): Promise<RequestStatus> {
    const query = { idReplenishment: checkedId("replenishmentId", replenishmentId) };
    return requestStatus(await this.#core.call(operations.REPLENISHMENT_STATUS, { ...options, query }));
  }

  /** Waits until a request is processed. Rejects with `UnfinishedError` if that takes too long. */
  wait(replenishmentId: Id, options: WaitOptions = {}): Promise<RequestState> {
    return untilFinal(async () => (await this.status(replenishmentId, options)).state, options);
  }

  /** Reads the result of each card. Rejects with `ApiError` and 409 while there is no result. */
  async result(replenishmentId: Id, options?: CallOptions): Promise<readonly ReplenishmentResult[]> {
    const query = { idReplenishment: checkedId("replenishmentId", replenishmentId) };
    return listOf(await this.#core.call(operations.REPLENISHMENT_RESULT, { ...options, query })).map(replenishmentResult);
  }

  /** Cancels a request that is still new. */
  async cancel(replenishmentId: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.CANCEL_REPLENISHMENT, { ...options, id: replenishmentId }));
  }

  /** Lists requests, the newest first. */
  async list(filter: RequestFilter & Paging = {}, options?: CallOptions): Promise<Page<Replenishment>> {
    const answer = await this.#core.call(operations.LIST_REPLENISHMENTS, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All requests, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: RequestFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<Replenishment, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ replenishmentId }) => replenishmentId, filter.perPage);
  }
}
