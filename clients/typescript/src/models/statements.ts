/** What moved on the partner's balance and on its cards. */

import type { Day, Id, Moment, Transaction } from "./values.js";
import type { EntrySourceKind, EntryType } from "./words.js";

/** An entry of the balance. Money is in kopecks. */
export interface BalanceEntry {
  /** Its number: from 1, without gaps, in the order of booking. */
  readonly seq: number;
  /** When it was booked. */
  readonly at: Moment;
  readonly type: EntryType;
  /** By how much it changed what you can spend; 0 for a `DEBIT`, which takes what was held. */
  readonly amount: number;
  /** All of your money after it. */
  readonly balance: number;
  /** What was held after it. */
  readonly hold: number;
  /** What you could spend after it: `balance - hold`. */
  readonly available: number;
  /** By how much it changed all of your money: `amount + holdChange`. */
  readonly balanceChange: number;
  /** By how much it changed what was held. */
  readonly holdChange: number;
  readonly of: {
    readonly kind: EntrySourceKind;
    /** The request, if it is one. */
    readonly id: Id | null;
    /** What you call the request, or the reference of the deposit or payment. */
    readonly reference: string | null;
  };
}

/** The balances at the ends of a period and their two parts, in kopecks: each balance is what was held and what was available. */
export interface PeriodBalances {
  readonly opening: number;
  readonly openingHold: number;
  readonly openingAvailable: number;
  readonly closing: number;
  readonly closingHold: number;
  readonly closingAvailable: number;
}

/** What entries changed, in kopecks. */
export interface BalanceChange {
  /** What you can spend. */
  readonly amount: number;
  /** All of your money: `amount + holdChange`. */
  readonly balanceChange: number;
  /** What is held. */
  readonly holdChange: number;
}

/** A transaction among those of all cards. */
export interface PartnerTransaction extends Transaction {
  /** Its number among your transactions: from 1, without gaps, in the order in which the service received them. */
  readonly seq: number;
  readonly idCard: Id;
  /** Who has the card. */
  readonly idEmployee: Id | null;
  readonly customId: string | null;
}

/** A piece of the transactions of all cards. */
export interface TransactionFeed {
  readonly data: readonly PartnerTransaction[];
  /** The `after` of the following request. */
  readonly next: number;
}

/** The form of a statement's file: the entries as CSV, or entries and totals as a spreadsheet. */
export type FileFormat = "csv" | "xlsx";

/** What moved on the balance in a month. Money is in kopecks. */
export interface Statement extends PeriodBalances {
  /** `YYYY-MM`. */
  readonly month: string;
  /** Whether the month is over: else more may come. */
  readonly complete: boolean;
  /** Each type of entry: how many there are, and what they changed. */
  readonly totals: readonly (BalanceChange & { readonly type: EntryType; readonly number: number })[];
  /** The days up to today. */
  readonly days: readonly (PeriodBalances & BalanceChange & { readonly date: Day })[];
}
