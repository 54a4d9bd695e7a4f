/** Changes of cards' limits. */

import { listOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core, RequestOptions } from "../core.js";
import type { CardLimit, Id, LimitChange, LimitResult, RequestStatus } from "../models/values.js";
import type { RequestState } from "../models/words.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, limitResult, requestStatus, text } from "../read.js";
import { untilFinal, type WaitOptions } from "../wait.js";
import type { RequestFilter } from "./orders.js";

/** Calls about changes of cards' limits. */
export class Limits {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Asks to give the same limit to 1 to 10,000 cards, each named once, in place of the whole limit they had, and gives
   * the request's identifier.
   *
   * Rejects with `CardsError` if some of them prevent it, with `ApiError` and 409 if the limit contradicts itself.
   */
  async set(cards: readonly Id[], limit: CardLimit, options?: RequestOptions): Promise<Id> {
    const body = { data: cards.map((idCard) => ({ idCard })), limit, reference: options?.reference };
    return text(await this.#core.call(operations.SET_LIMITS, { ...options, body }), "setLimitsCardsId");
  }

  /** Reads the state of a change. */
  async status(setLimitsCardsId: Id, options?: CallOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.LIMITS_STATUS, { ...options, body: { setLimitsCardsId } }));
  }

  /** Waits until a change is processed. Rejects with `UnfinishedError` if that takes too long. */
  wait(setLimitsCardsId: Id, options: WaitOptions = {}): Promise<RequestState> {
    return untilFinal(async () => (await this.status(setLimitsCardsId, options)).state, options);
  }

  /** Reads the result of each card. Rejects with `ApiError` and 409 while there is no result. */
  async result(setLimitsCardsId: Id, options?: CallOptions): Promise<readonly LimitResult[]> {
    return listOf(await this.#core.call(operations.LIMITS_RESULT, { ...options, id: setLimitsCardsId })).map(limitResult);
  }

  /** Cancels a change that is still new. */
  async cancel(setLimitsCardsId: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.CANCEL_LIMITS, { ...options, body: { setLimitsCardsId } }));
  }

  /** Lists changes, the newest first. */
  async list(filter: RequestFilter & Paging = {}, options?: CallOptions): Promise<Page<LimitChange>> {
    const answer = await this.#core.call(operations.LIST_LIMITS, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All changes, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: RequestFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<LimitChange, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ setLimitsCardsId }) => setLimitsCardsId, filter.perPage);
  }
}
