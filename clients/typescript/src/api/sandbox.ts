/** Calls that only a sandbox has, where a simulator stands for the bank. Elsewhere they fail with 404. */

import type { ChangeOptions, Core } from "../core.js";
import type { Balance, BankBehaviour, NewPurchase, Purchase } from "../models/generated.js";
import type { Id } from "../models/values.js";
import * as operations from "../operations.js";
import { as } from "../read.js";
import type { Secret } from "../secret.js";

/** Calls that only a sandbox has. */
export class Sandbox {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Lets `amount` kopecks arrive on the partner's balance, and gives it. */
  async deposit(amount: number, options?: ChangeOptions): Promise<Balance> {
    return as(await this.#core.call(operations.SANDBOX_DEPOSIT, { ...options, body: { amount } }));
  }

  /** Buys something with a card, as far as its limit, balance, expiry and block allow. */
  async purchase(idCard: Id, purchase: NewPurchase, options?: ChangeOptions): Promise<Purchase> {
    return as(await this.#core.call(operations.SANDBOX_PURCHASE, { ...options, id: idCard, body: purchase }));
  }

  /**
   * Gives `amount` kopecks of a purchase back, up to what earlier refunds have left of it. The refund is a transaction of
   * its own.
   */
  async refund(
    idCard: Id,
    transactionId: number,
    amount: number,
    options?: ChangeOptions,
  ): Promise<{ readonly transactionId: number }> {
    return as(await this.#core.call(operations.SANDBOX_REFUND, { ...options, id: idCard, body: { transactionId, amount } }));
  }

  /** Activates a card by its code; without one the bank does it of its own accord. */
  async activate(idCard: Id, code?: Secret, options?: ChangeOptions): Promise<void> {
    const body = { activationCode: code?.expose() };
    await this.#core.call(operations.SANDBOX_ACTIVATE, { ...options, id: idCard, body });
  }

  /** Blocks a card at the bank. */
  async block(idCard: Id, options?: ChangeOptions): Promise<void> {
    // The service takes a POST with a JSON object only, also where nothing is to be said.
    await this.#core.call(operations.SANDBOX_BLOCK, { ...options, id: idCard, body: {} });
  }

  /** Ends the block of a card at the bank. */
  async unblock(idCard: Id, options?: ChangeOptions): Promise<void> {
    await this.#core.call(operations.SANDBOX_UNBLOCK, { ...options, id: idCard, body: {} });
  }

  /** Lets a card expire. */
  async expire(idCard: Id, options?: ChangeOptions): Promise<void> {
    await this.#core.call(operations.SANDBOX_EXPIRE, { ...options, id: idCard, body: {} });
  }

  /** Sets the bank faults from now on, for all partners of the sandbox; `{}` ends them. */
  async bank(behaviour: BankBehaviour, options?: ChangeOptions): Promise<void> {
    await this.#core.call(operations.SANDBOX_BANK, { ...options, body: behaviour });
  }

  /**
   * Moves the service's clock forward, for all partners of the sandbox. It never goes back. What is sealed goes by the
   * machine's own time, before and after.
   */
  async advanceClock(seconds: number, options?: ChangeOptions): Promise<void> {
    await this.#core.call(operations.SANDBOX_CLOCK, { ...options, body: { seconds } });
  }
}
