/** Withdrawals: money back from cards. */

import type { Core, RequestOptions } from "../core.js";
import type { CardWithdrawal, Withdrawal, WithdrawalResult } from "../models/generated.js";
import type { Id } from "../models/values.js";
import * as operations from "../operations.js";
import { CardBatches } from "./requests.js";

/** Calls about withdrawals. */
export class Withdrawals extends CardBatches<Withdrawal, WithdrawalResult> {
  constructor(core: Core) {
    super(core, {
      id: "withdrawalId",
      status: operations.WITHDRAWAL_STATUS,
      result: operations.WITHDRAWAL_RESULT,
      cancel: operations.WITHDRAWAL_CANCEL,
      list: operations.WITHDRAWAL_LIST,
      outcome: ["Withdrawal", "amountWithdrawn"],
    });
  }

  /**
   * Asks for money back from 1 to 10,000 cards, each once, and gives the withdrawal's identifier.
   *
   * Rejects with `CardsError` if some of them prevent it; then nothing is taken.
   */
  create(cards: readonly CardWithdrawal[], options?: RequestOptions): Promise<Id> {
    return this.send(operations.WITHDRAWAL_CREATE, { data: cards }, options);
  }
}
