/** Closings of cards. */

import type { Core, RequestOptions } from "../core.js";
import type { CardClosing, Closing, ClosingResult } from "../models/generated.js";
import type { Id } from "../models/values.js";
import * as operations from "../operations.js";
import { CardBatches } from "./requests.js";

/** Calls about closings. */
export class Closings extends CardBatches<Closing, ClosingResult> {
  constructor(core: Core) {
    super(core, {
      id: "closingId",
      status: operations.CLOSING_STATUS,
      result: operations.CLOSING_RESULT,
      cancel: operations.CLOSING_CANCEL,
      list: operations.CLOSING_LIST,
      outcome: ["Closing", "amountReturned"],
    });
  }

  /**
   * Asks to close 1 to 10,000 cards for good, each once, and gives the closing's identifier. What is on them comes back to the
   * balance.
   *
   * Rejects with `CardsError` if some of them prevent it; then none is closed.
   */
  create(cards: readonly CardClosing[], options?: RequestOptions): Promise<Id> {
    return this.send(operations.CLOSING_CREATE, { data: cards }, options);
  }
}
