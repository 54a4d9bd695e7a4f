/** Cards. */

import type { CallOptions, ChangeOptions, Core } from "../core.js";
import type {
  AvailableCard,
  BankStatus,
  Card,
  CardBalance,
  CardStatus,
  CardType,
  LinkedCard,
  PaymentAnswer,
  PaymentDetails,
  Transaction,
  TransactionType,
  UnlinkedCard,
} from "../models/generated.js";
import type { Day, Id } from "../models/values.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, cardBalance, underData } from "../read.js";

/** Which transactions to list. By default all. */
export interface TransactionFilter {
  /** Those of this day and later. */
  readonly from?: Day | undefined;
  /** Those of this day and earlier. */
  readonly to?: Day | undefined;
  readonly type?: TransactionType | undefined;
}

/** Which cards to list. By default all. */
export interface CardFilter {
  /** Those of employees, or of none. */
  readonly linked?: boolean | undefined;
  readonly statusCard?: CardStatus | undefined;
  readonly bankStatus?: BankStatus | undefined;
  readonly typeCard?: CardType | undefined;
  readonly orderId?: Id | undefined;
  readonly idEmployee?: Id | undefined;
  /** Those whose last day is before this one. */
  readonly expiresBefore?: Day | undefined;
  /** The one with this number. */
  readonly customIdCard?: string | undefined;
}

/** Which unassigned cards to list. By default all. */
export interface AvailableFilter {
  readonly typeCard?: CardType | undefined;
}

/** Calls about cards. */
export class Cards {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Reads a card. */
  async info(idCard: Id, options?: CallOptions): Promise<Card> {
    return cardBalance<Card>(underData(await this.#core.call(operations.CARD_INFO, { ...options, id: idCard })));
  }

  /** Reads a card's balance. */
  async balance(idCard: Id, options?: CallOptions): Promise<CardBalance> {
    return cardBalance<CardBalance>(await this.#core.call(operations.CARD_BALANCE, { ...options, id: idCard }));
  }

  /** Lists a card's transactions, the newest first. */
  async transactions(
    idCard: Id,
    filter: TransactionFilter & Paging = {},
    options?: CallOptions,
  ): Promise<Page<Transaction>> {
    const parts = { ...options, id: idCard, query: listQuery(filter) };
    return pageOf(await this.#core.call(operations.CARD_TRANSACTIONS, parts), (item) => as(item));
  }

  /** All of a card's transactions, read page by page as they are asked for; each once, whatever is added meanwhile. */
  allTransactions(
    idCard: Id,
    filter: TransactionFilter & PageSize = {},
    options?: CallOptions,
  ): AsyncGenerator<Transaction, void, undefined> {
    const read = (paging: Paging) => this.transactions(idCard, { ...filter, ...paging }, options);
    return everyRecord(read, ({ id }) => id, filter.perPage);
  }

  /** Asks whether a card would pay `amount` kopecks, now or at another time. Nothing is paid or reserved. */
  async canPay(
    idCard: Id,
    amount: number,
    { at, mcc }: PaymentDetails = {},
    options?: CallOptions,
  ): Promise<PaymentAnswer> {
    return as(await this.#core.call(operations.CARD_CAN_PAY, { ...options, id: idCard, body: { amount, at, mcc } }));
  }

  /** Lists cards, the first issued first, with the service's own copy of the bank's data. */
  async list(filter: CardFilter & Paging = {}, options?: CallOptions): Promise<Page<Card>> {
    const answer = await this.#core.call(operations.CARD_LIST, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => cardBalance<Card>(item));
  }

  /** All cards, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: CardFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<Card, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ idCard }) => idCard, filter.perPage);
  }

  /** Lists the cards that are free to be linked. */
  async available(filter: AvailableFilter & Paging = {}, options?: CallOptions): Promise<Page<AvailableCard>> {
    const answer = await this.#core.call(operations.CARD_AVAILABLE, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All unassigned cards, read page by page as they are asked for; each once, even if cards are linked meanwhile. */
  allAvailable(
    filter: AvailableFilter & PageSize = {},
    options?: CallOptions,
  ): AsyncGenerator<AvailableCard, void, undefined> {
    const read = (paging: Paging) => this.available({ ...filter, ...paging }, options);
    return everyRecord(read, ({ idCard }) => idCard, filter.perPage);
  }

  /** Links an unassigned card, named by its number on the bank's side, to an employee. */
  async link(
    idEmployee: Id,
    customIdCard: string,
    statusCard: CardStatus,
    options?: ChangeOptions,
  ): Promise<LinkedCard> {
    const parts = { ...options, id: idEmployee, body: { customIdCard, statusCard } };
    return as(await this.#core.call(operations.CARD_LINK, parts));
  }

  /** Changes what a card is to its employee. */
  async switch(idEmployee: Id, idCard: Id, statusCard: CardStatus, options?: ChangeOptions): Promise<LinkedCard> {
    const parts = { ...options, id: idEmployee, body: { idCard, statusCard } };
    return as(await this.#core.call(operations.CARD_SWITCH, parts));
  }

  /**
   * Unlinks a card from its employee: one that is closed or has expired, or that was never activated and holds no money,
   * which is free again.
   */
  async unlink(idEmployee: Id, idCard: Id, options?: ChangeOptions): Promise<UnlinkedCard> {
    return as(await this.#core.call(operations.CARD_UNLINK, { ...options, id: [idEmployee, idCard] }));
  }
}
