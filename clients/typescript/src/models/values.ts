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

/** The form of a statement's file: the entries as CSV, or entries and totals as a spreadsheet. */
export type FileFormat = "csv" | "xlsx";

/** The balances at the ends of a period and their two parts, in kopecks: each balance is what was held and what was available. */
export type PeriodBalances = Pick<
  Statement,
  "opening" | "openingHold" | "openingAvailable" | "closing" | "closingHold" | "closingAvailable"
>;

/** What entries changed, in kopecks. */
export type BalanceChange = Pick<StatementDay, "amount" | "balanceChange" | "holdChange">;

/** Which events are delivered once more: one, or all behind a number of the feed that were not delivered. */
export type Redelivery = { readonly eventId: Id } | { readonly after: number };
