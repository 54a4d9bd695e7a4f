/** Types without a schema. Money is in kopecks; identifiers are uuids. */

import type { Secret } from "../secret.js";
import type { Statement, StatementDay } from "./generated.js";

/** A uuid with its hyphens. */
export type Id = string;
/** A date as the service writes it, `DD.MM.YYYY`, in its own zone. */
export type Day = string;
/** A moment as the service writes it, `DD.MM.YYYY HH:MM`, in its own zone. */
export type Moment = string;

/** The tokens that a login or a renewal yields; both expire at a Unix second. */
export interface TokenPair {
  readonly accessToken: Secret;
  readonly accessExpireAt: number;
  readonly refreshToken: Secret;
  readonly refreshExpireAt: number;
}

/**
 * The form of a statement's or a report's file: `csv` in kopecks for programs; `xlsx` and `excel-csv` in roubles for people;
 * of a statement alone `1c`, which is 1CClientBankExchange in Windows-1251, and `camt`, ISO 20022 camt.053.001.08.
 */
export type FileFormat = "csv" | "xlsx" | "excel-csv" | "1c" | "camt";

/** The balances at the ends of a period and their two parts, in kopecks: each balance is what was held and what was available. */
export type PeriodBalances = Pick<
  Statement,
  "opening" | "openingHold" | "openingAvailable" | "closing" | "closingHold" | "closingAvailable"
>;

/** What entries changed, in kopecks. */
export type BalanceChange = Pick<StatementDay, "amount" | "balanceChange" | "holdChange">;

/** Which events are delivered once more: one, or all behind a number of the feed that were not delivered. */
export type Redelivery = { readonly eventId: Id } | { readonly after: number };
