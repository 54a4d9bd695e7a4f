/** Changes of cards' limits. */

import type { Core, RequestOptions } from "../core.js";
import type { CardLimit, CardRef, LimitChange, LimitResult } from "../models/generated.js";
import type { Id } from "../models/values.js";
import * as operations from "../operations.js";
import { CardBatches } from "./requests.js";

/** Calls about changes of cards' limits. */
export class Limits extends CardBatches<LimitChange, LimitResult> {
  constructor(core: Core) {
    super(core, {
      id: "setLimitsCardsId",
      status: operations.LIMITS_STATUS,
      result: operations.LIMITS_RESULT,
      cancel: operations.LIMITS_CANCEL,
      list: operations.LIMITS_LIST,
      outcome: ["Limit"],
    });
  }

  /**
   * Asks to give the same limit to 1 to 10,000 cards, each named once, and gives the change's identifier. It stands in place of
   * the whole limit they had.
   *
   * Rejects with `CardsError` if some cards prevent it, with `ApiError` and 409 if the limit contradicts itself.
   */
  set(cards: readonly (Id | CardRef)[], limit: CardLimit, options?: RequestOptions): Promise<Id> {
    const data = cards.map((card) => (typeof card === "string" ? { idCard: card } : card));
    return this.send(operations.LIMITS_SET, { data, limit }, options);
  }
}
