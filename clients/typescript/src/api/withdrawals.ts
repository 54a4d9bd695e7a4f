/** Withdrawals: money back from cards. */

import { listOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core, RequestOptions } from "../core.js";
import type { CardWithdrawal, Id, RequestStatus, Withdrawal, WithdrawalResult } from "../models/values.js";
import type { RequestState } from "../models/words.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, requestStatus, text, withdrawalResult } from "../read.js";
import { untilFinal, type WaitOptions } from "../wait.js";
import type { RequestFilter } from "./orders.js";

/** Calls about withdrawals. */
export class Withdrawals {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Asks for money back from 1 to 10,000 cards, each once, and gives the withdrawal's identifier.
   *
   * Rejects with `CardsError` if some of them prevent it; then nothing is taken.
   */
  async create(cards: readonly CardWithdrawal[], options?: RequestOptions): Promise<Id> {
    const body = { data: cards, reference: options?.reference };
    return text(await this.#core.call(operations.CREATE_WITHDRAWAL, { ...options, body }), "withdrawalId");
  }

  /** Reads the state of a withdrawal. */
  async status(withdrawalId: Id, options?: CallOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.WITHDRAWAL_STATUS, { ...options, id: withdrawalId }));
  }

  /** Waits until a withdrawal is processed. Rejects with `UnfinishedError` if that takes too long. */
  wait(withdrawalId: Id, options: WaitOptions = {}): Promise<RequestState> {
    return untilFinal(async () => (await this.status(withdrawalId, options)).state, options);
  }

  /** Reads the result of each card. Rejects with `ApiError` and 409 while there is no result. */
  async result(withdrawalId: Id, options?: CallOptions): Promise<readonly WithdrawalResult[]> {
    const answer = await this.#core.call(operations.WITHDRAWAL_RESULT, { ...options, id: withdrawalId });
    return listOf(answer).map(withdrawalResult);
  }

  /** Cancels a withdrawal that is still new. */
  async cancel(withdrawalId: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.CANCEL_WITHDRAWAL, { ...options, id: withdrawalId }));
  }

  /** Lists withdrawals, the newest first. */
  async list(filter: RequestFilter & Paging = {}, options?: CallOptions): Promise<Page<Withdrawal>> {
    const answer = await this.#core.call(operations.LIST_WITHDRAWALS, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All withdrawals, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: RequestFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<Withdrawal, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ withdrawalId }) => withdrawalId, filter.perPage);
  }
}
