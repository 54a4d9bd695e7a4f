/** Top-ups of cards. */

import type { Core, RequestOptions } from "../core.js";
import type { Replenishment, ReplenishmentResult, TopUp } from "../models/generated.js";
import type { Id } from "../models/values.js";
import * as operations from "../operations.js";
import { CardBatches } from "./requests.js";

/** Calls about top-ups of cards. */
export class Replenishments extends CardBatches<Replenishment, ReplenishmentResult> {
  constructor(core: Core) {
    super(core, {
      id: "replenishmentId",
      status: operations.REPLENISHMENT_STATUS,
      result: operations.REPLENISHMENT_RESULT,
      cancel: operations.REPLENISHMENT_CANCEL,
      list: operations.REPLENISHMENT_LIST,
      outcome: ["Replenishment", "amountReplenishment"],
    });
  }

  /**
   * Asks for top-ups of 1 to 10,000 cards, each once, and gives the request's identifier.
   *
   * Rejects with `CardsError` if some of them prevent it; then none is topped up.
   */
  create(topUps: readonly TopUp[], options?: RequestOptions): Promise<Id> {
    const cards = topUps.map(({ amount, ...card }) => ({ ...card, amountReplenishment: amount }));
    return this.send(operations.REPLENISHMENT_CREATE, { cards }, options);
  }
}
