/** What calls take and answer. Money is in kopecks; identifiers are uuids. */

import type { Secret } from "../secret.js";
import type {
  BankStatus,
  CardStatus,
  CardType,
  ClosingReason,
  EmployeeStatus,
  LimitPeriod,
  OrderKind,
  RequestState,
  TransactionType,
} from "./words.js";

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

/** The partner's money, in kopecks. */
export interface Balance {
  /** All of it. */
  readonly balance: number;
  /** What of it is held for requests in process. */
  readonly hold: number;
  /** What is left to spend. */
  readonly available: number;
  /** The last change. */
  readonly updatedAt: Moment;
}

export interface Category {
  readonly idCategory: Id;
  readonly nameCategory: string;
}

export interface CategoryWithCount extends Category {
  /** How many employees have it. */
  readonly employees: number;
}

export interface Employee {
  /** The identifier that the service gave. */
  readonly idEmployee: Id;
  /** The partner's own identifier, unique for the partner. */
  readonly customId: string;
  readonly surname: string | null;
  readonly name: string | null;
  readonly patronymic: string | null;
  /** Ten digits, without country code. */
  readonly phone: string | null;
  readonly email: string | null;
  readonly idCategory: Id | null;
  readonly status: EmployeeStatus;
  /** The day the employee was added. */
  readonly createdAt: Day;
  /** The day of the last change of status. */
  readonly statusUpdatedAt: Day;
}

export interface EmployeeWithCards extends Employee {
  readonly cards: readonly { readonly idCard: Id; readonly statusCard: CardStatus }[];
}

/** An employee whose personal data was erased. */
export interface EmployeeErased {
  readonly idEmployee: Id;
}

export interface NewEmployee {
  /** Up to 64 letters, digits, `-` and `_`. */
  readonly customId: string;
  readonly surname?: string | undefined;
  readonly name?: string | undefined;
  readonly patronymic?: string | undefined;
  /** Ten digits, without country code. */
  readonly phone?: string | undefined;
  readonly email?: string | undefined;
  readonly idCategory?: Id | undefined;
  /** Default: `WORK`. */
  readonly status?: EmployeeStatus | undefined;
}

/** Changes of an employee. What is absent stays as it is, `null` empties a field. */
export interface EmployeeUpdate {
  readonly customId?: string | undefined;
  readonly surname?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly patronymic?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly idCategory?: Id | null | undefined;
  readonly status?: EmployeeStatus | undefined;
}

/**
 * Merchants by their category codes, four digits (`5812`) or a range (`5411-5499`): `only` these, or all `except` these.
 */
export interface MerchantCategories {
  readonly only?: readonly string[];
  readonly except?: readonly string[];
}

/** What a card may spend: unlimited, or any of an amount per period, weekdays, times of day and merchant categories. */
export interface CardLimit {
  /** No limit but the card's balance. Nothing else may be set beside it. */
  readonly unlimited?: boolean;
  /** What may be spent in a period, in kopecks. Goes with `period`. */
  readonly amount?: number | null;
  readonly period?: LimitPeriod | null;
  /** The weekdays on which it pays, 1 (Monday) to 7. Empty: on any day. */
  readonly days?: readonly number[];
  /**
   * The times of day at which it pays, `HH:MM` up to but without `HH:MM`. Empty: at any time. One that starts later than
   * it ends runs over midnight, and counts for the day on which it starts.
   */
  readonly times?: readonly { readonly from: string; readonly to: string }[];
  /** The merchants at which it pays. Absent: at any. */
  readonly merchantCategories?: MerchantCategories;
}

/** What else there is to say of a payment to ask about. */
export interface PaymentDetails {
  /** When it would be made; now if absent. */
  readonly at?: Moment | undefined;
  /** The merchant's category code, for limits by merchant. */
  readonly mcc?: string | undefined;
}

export interface CardBalance {
  readonly idCard: Id;
  /** The card's account at the bank, as of its last daily refresh; in kopecks. */
  readonly balanceAccount: { readonly updatedAt: Moment; readonly value: number };
  /** In kopecks. */
  readonly balance: number;
  /** By how much the card can be topped up, in kopecks. */
  readonly canToUp: number;
}

export interface Card extends CardBalance {
  /** `null` for an unassigned card. */
  readonly idEmployee: Id | null;
  /** The number on the bank's side: 13 digits (EAN) of a plastic card, 10 of a virtual one. */
  readonly customCardId: number;
  readonly type: CardType;
  /** `null` for an unassigned card. */
  readonly statusCard: CardStatus | null;
  /** Whether the card can pay, by the bank and by you. */
  readonly bankStatus: BankStatus;
  /** The last day on which the card is valid. */
  readonly dateUntil: Day;
  readonly limit: CardLimit;
  /** Whether the card can be used; a plastic one can from its issue on. */
  readonly activated: boolean;
  readonly activatedAt: Day | null;
}

/** A card that is free to be linked to an employee. */
export interface AvailableCard {
  readonly idCard: Id;
  /** The number on the bank's side, to link the card by. */
  readonly customIdCard: string;
  readonly typeCard: CardType;
  /** The last day on which the card is valid. */
  readonly dateUntil: Day;
  /** Whether the card can pay. */
  readonly bankStatus: BankStatus;
}

export interface LinkedCard {
  readonly idEmployee: Id;
  readonly idCard: Id;
  readonly statusCard: CardStatus;
}

/** A card and the employee it was linked to. */
export interface UnlinkedCard {
  readonly idEmployee: Id;
  readonly idCard: Id;
}

/** A movement of money on a card. */
export interface Transaction {
  readonly id: number;
  readonly dateExecutionAt: Day;
  /** `HH:MM`. */
  readonly timeExecutionAt: string;
  readonly type: TransactionType;
  /** In kopecks; positive in either direction. */
  readonly amount: number;
  /** The merchant's outlet. */
  readonly place: string | null;
  /** The merchant's category code. */
  readonly mcc: string | null;
  readonly merchantId: string | null;
}

/** Whether a card would pay an amount. */
export interface PaymentAnswer {
  readonly allowed: boolean;
  /** Why not, for people. */
  readonly reason: string | null;
  /** Why not, for programs: `insufficient_funds` and others. */
  readonly code: string | null;
  /** What the limit leaves in the period, this payment not taken off, in kopecks; `null` without such a limit. */
  readonly remaining: number | null;
  /** When the next period begins; `null` without such a limit. */
  readonly resetsAt: Moment | null;
}

/** A request and its state. */
export interface RequestStatus {
  readonly id: Id;
  readonly state: RequestState;
  /** What you call it; absent if you gave no reference. */
  readonly reference?: string;
}

export interface PlasticItem {
  /** 1 to 10,000. */
  readonly numberCards: number;
  readonly typeCard: "MP4" | "KKL";
  readonly deliveryAddress: string;
  /** Full name of the person who receives them. */
  readonly recipient: string;
  /** Ten digits, without country code. */
  readonly phone: string;
}

export interface VirtualItem {
  /** 1 to 5,000. */
  readonly numberCards: number;
  /** What each holds from the start, 5,000 to 1,500,000 kopecks. */
  readonly amount: number;
  /** Default: `MLZ`. */
  readonly typeCard?: CardType;
}

/** A card that was issued for an order. */
export interface IssuedCard {
  /** The number on the bank's side: 13 digits (EAN) of a plastic card, 10 of a virtual one. */
  readonly customIdCard: string;
  readonly typeCard: CardType;
  /** The code that activates a virtual card. */
  readonly activationCode?: Secret;
  /** The last day on which the code can be used. */
  readonly validityPeriod?: Day;
  /** What a virtual card holds from the start, in kopecks. */
  readonly amount?: number;
}

export interface OrderResult {
  /** The kind of the cards; of an order of several kinds, that of the first. */
  readonly typeCard: CardType;
  readonly data: readonly IssuedCard[];
}

/** What all requests have in the list of them. */
interface Listed {
  readonly status: RequestState;
  readonly numberCards: number;
  readonly createdAt: Moment;
  readonly statusUpdatedAt: Moment;
  /** What you call it. */
  readonly reference: string | null;
}

export interface Order extends Listed {
  readonly orderId: Id;
  readonly kind: OrderKind;
  /** The kind of the cards; of an order of several kinds, that of the first. */
  readonly typeCard: CardType;
  /** What the order costs, in kopecks. */
  readonly amount: number;
}

export interface Replenishment extends Listed {
  readonly replenishmentId: Id;
  /** The sum asked for, in kopecks. */
  readonly amount: number;
}

export interface LimitChange extends Listed {
  readonly setLimitsCardsId: Id;
}

/** A card to top up, a `MAIN` one, and by how many kopecks. */
export interface TopUp {
  readonly idCard: Id;
  readonly amount: number;
}

/** What became of one card of a top-up request. */
export interface ReplenishmentResult {
  readonly idCard: Id;
  readonly succeeded: boolean;
  /** By how much; of a refused card, the amount asked for. In kopecks. */
  readonly amount: number;
  readonly error: string | null;
}

/** What became of one card of a change of limits. */
export interface LimitResult {
  readonly idCard: Id;
  readonly succeeded: boolean;
  /** Why the card keeps its old limit. */
  readonly error: string | null;
}

export interface Closing extends Listed {
  readonly closingId: Id;
  /** Always `null`: a closing brings all money of its cards back. */
  readonly amount: null;
  /** What came back to the balance so far, in kopecks. */
  readonly amountMoved: number;
}

/** A card to close, and why. */
export interface CardClosing {
  readonly idCard: Id;
  readonly reason: ClosingReason;
}

/** What became of one card of a closing. */
export interface ClosingResult {
  readonly idCard: Id;
  readonly succeeded: boolean;
  /** What came back to the balance; 0 if the card was not closed. In kopecks. */
  readonly amount: number;
  readonly error: string | null;
}

export interface Withdrawal extends Listed {
  readonly withdrawalId: Id;
  /** The sum asked for, in kopecks; `null` if it takes all that is on one of its cards. */
  readonly amount: number | null;
  /** What came back to the balance so far, in kopecks. */
  readonly amountMoved: number;
}

/** A card to take money from. */
export interface CardWithdrawal {
  readonly idCard: Id;
  /** How much, in kopecks; all that is on the card if it is left out. */
  readonly amount?: number | undefined;
}

/** What became of one card of a withdrawal. */
export interface WithdrawalResult {
  readonly idCard: Id;
  readonly succeeded: boolean;
  /** What came back to the balance; 0 if nothing did. In kopecks. */
  readonly amount: number;
  readonly error: string | null;
}

/** A purchase to make in a sandbox. */
export interface NewPurchase {
  /** In kopecks. */
  readonly amount: number;
  readonly place?: string | undefined;
  readonly mcc?: string | undefined;
  readonly merchantId?: string | undefined;
  /** When, in the past or in the future. Default: now. */
  readonly at?: Moment | undefined;
}

/** What became of a purchase. */
export interface Purchase {
  readonly approved: boolean;
  /** Why not, for people. */
  readonly reason: string | null;
  /** Why not, for programs, as in {@link PaymentAnswer}. */
  readonly code: string | null;
  /** The transaction; a declined purchase is none. */
  readonly transactionId: number | null;
}

/** The faults of a sandbox's bank; an absent field means no such fault. */
export interface BankBehaviour {
  /** How long each of its answers takes, up to a minute. */
  readonly latencyMs?: number;
  /** The share of calls that fail before they have any effect, 0 to 1. */
  readonly errorRate?: number;
  /** The share of calls that get lost without an effect and without an answer, 0 to 1. */
  readonly loseRequestRate?: number;
  /** The share of calls that are not answered after they had their effect, 0 to 1. */
  readonly loseAnswerRate?: number;
  /** The share of repeated calls that have their effect again, 0 to 1. */
  readonly duplicateRate?: number;
  /** Whether it leaves purchases and refunds out of its feed. */
  readonly silentFeed?: boolean;
  /** Whether it cannot be reached at all. */
  readonly down?: boolean;
}
