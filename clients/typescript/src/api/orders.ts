/** Orders of cards. */

import { listOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core, RequestOptions } from "../core.js";
import type { Order, OrderResult, PlasticItem, RequestStatus, VirtualItem } from "../models/generated.js";
import type { Id } from "../models/values.js";
import * as operations from "../operations.js";
import { issuedCard, requestStatus, text } from "../read.js";
import { Requests } from "./requests.js";

/** Calls about orders of cards. */
export class Orders extends Requests<Order> {
  constructor(core: Core) {
    super(core, {
      id: "orderId",
      status: operations.ORDER_STATUS,
      result: operations.ORDER_RESULT,
      cancel: operations.ORDER_CANCEL,
      list: operations.ORDER_LIST,
    });
  }

  /** Orders plastic cards, 1 to 100 items, and gives the order's identifier. */
  plastic(items: readonly PlasticItem[], options?: RequestOptions): Promise<Id> {
    return this.send(operations.ORDER_PLASTIC, { data: items }, options);
  }

  /**
   * Orders virtual cards, 1 to 100 items, and gives the order's identifier. What they hold is taken from the partner's
   * balance.
   */
  virtual(items: readonly VirtualItem[], options?: RequestOptions): Promise<Id> {
    return this.send(operations.ORDER_VIRTUAL, { data: items.map((item) => ({ typeCard: "MLZ", ...item })) }, options);
  }

  /** Reads the cards that an order brought. Rejects with `ApiError` and 404 while there is no result. */
  async result(orderId: Id, options?: CallOptions): Promise<OrderResult> {
    const answer = await this.about(this.kind.result, orderId, options);
    return { typeCard: text(answer, "typeCard"), data: listOf(answer).map(issuedCard) };
  }

  /** Confirms the receipt of an order that is done, and so closes it. */
  async confirm(orderId: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.about(operations.ORDER_CONFIRM, orderId, options));
  }
}
