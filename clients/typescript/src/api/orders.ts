/** Orders of cards. */

import { listOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core, RequestOptions } from "../core.js";
import type { Day, Id, Order, OrderResult, PlasticItem, RequestStatus, VirtualItem } from "../models/values.js";
import type { RequestState } from "../models/words.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, issuedCard, requestStatus, text } from "../read.js";
import { untilFinal, type WaitOptions } from "../wait.js";

/** Which requests to list. By default all. */
export interface RequestFilter {
  readonly status?: RequestState | undefined;
  /** Those with exactly this reference. */
  readonly reference?: string | undefined;
  /** Those accepted on this day and later. */
  readonly from?: Day | undefined;
  /** Those accepted on this day and earlier. */
  readonly to?: Day | undefined;
}

/** Calls about orders of cards. */
export class Orders {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Orders plastic cards, 1 to 100 items, and gives the order's identifier. */
  async plastic(items: readonly PlasticItem[], options?: RequestOptions): Promise<Id> {
    const body = { data: items, reference: options?.reference };
    return text(await this.#core.call(operations.ORDER_PLASTIC, { ...options, body }), "orderId");
  }

  /**
   * Orders virtual cards, 1 to 100 items, and gives the order's identifier. What they hold is taken from the partner's
   * balance.
   */
  async virtual(items: readonly VirtualItem[], options?: RequestOptions): Promise<Id> {
    const data = items.map((item) => ({ typeCard: "MLZ", ...item }));
    const body = { data, reference: options?.reference };
    return text(await this.#core.call(operations.ORDER_VIRTUAL, { ...options, body }), "orderId");
  }

  /** Reads the state of an order. */
  async status(orderId: Id, options?: CallOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.ORDER_STATUS, { ...options, id: orderId }));
  }

  /** Waits until an order is processed. Rejects with `UnfinishedError` if that takes too long. */
  wait(orderId: Id, options: WaitOptions = {}): Promise<RequestState> {
    return untilFinal(async () => (await this.status(orderId, options)).state, options);
  }

  /** Reads the cards that an order brought. Rejects with `ApiError` and 404 while there is no result. */
  async result(orderId: Id, options?: CallOptions): Promise<OrderResult> {
    const answer = await this.#core.call(operations.ORDER_RESULT, { ...options, id: orderId });
    return { typeCard: text(answer, "typeCard"), data: listOf(answer).map(issuedCard) };
  }

  /** Confirms the receipt of an order that is done, and so closes it. */
  async confirm(orderId: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.CONFIRM_ORDER, { ...options, body: { orderId } }));
  }

  /** Cancels an order that is still new. */
  async cancel(orderId: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.#core.call(operations.CANCEL_ORDER, { ...options, body: { orderId } }));
  }

  /** Lists orders, the newest first. */
  async list(filter: RequestFilter & Paging = {}, options?: CallOptions): Promise<Page<Order>> {
    const answer = await this.#core.call(operations.LIST_ORDERS, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All orders, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: RequestFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<Order, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ orderId }) => orderId, filter.perPage);
  }
}
