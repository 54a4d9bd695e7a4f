/** Events: what has happened to the partner's data. */

import type { Day, Id, Transaction } from "./values.js";
import type { BankStatus, CardStatus, CardType, RequestState } from "./words.js";

/** What an event tells, by its type. Identifiers are those of the reference; money is in kopecks. */
export interface EventData {
  readonly "order.status": { readonly orderId: Id; readonly status: RequestState; readonly reference?: string };
  readonly "replenishment.status": { readonly replenishmentId: Id; readonly status: RequestState; readonly reference?: string };
  readonly "limits.status": { readonly setLimitsCardsId: Id; readonly status: RequestState; readonly reference?: string };
  readonly "closing.status": { readonly closingId: Id; readonly status: RequestState; readonly reference?: string };
  readonly "withdrawal.status": { readonly withdrawalId: Id; readonly status: RequestState; readonly reference?: string };
  readonly "card.issued": {
    readonly idCard: Id;
    readonly customIdCard: string;
    readonly typeCard: CardType;
    readonly orderId: Id;
    readonly dateUntil: Day;
    readonly bankStatus: BankStatus;
  };
  readonly "card.linked": CardLinkEvent;
  readonly "card.unlinked": CardLinkEvent;
  readonly "card.status": CardLinkEvent;
  readonly "card.bank_status": BankCardEvent;
  readonly "card.activated": BankCardEvent;
  readonly "card.expiring": BankCardEvent;
  readonly "card.expired": BankCardEvent;
  readonly "card.transaction": {
    readonly idCard: Id;
    readonly idEmployee: Id | null;
    readonly transaction: Transaction;
  };
  readonly "card.declined": {
    readonly idCard: Id;
    readonly idEmployee: Id | null;
    readonly amount: number;
    readonly reason: string;
    readonly code: string | null;
    readonly place: string | null;
    readonly mcc: string | null;
    readonly merchantId: string | null;
    /** `DD.MM.YYYY HH:MM`. */
    readonly date: string;
  };
  readonly "balance.deposited": { readonly amount: number; readonly reference: string | null };
  readonly "balance.returned": {
    readonly amount: number;
    readonly reference: string | null;
    /** The closing that brought it, if it was one. */
    readonly closingId: Id | null;
    /** The withdrawal that brought it, if it was one. */
    readonly withdrawalId: Id | null;
  };
  readonly "balance.withdrawn": { readonly amount: number; readonly reference: string };
  readonly "balance.corrected": { readonly amount: number; readonly reference: string };
  readonly "balance.low": { readonly available: number; readonly threshold: number };
  readonly "employee.created": EmployeeEvent;
  readonly "employee.updated": EmployeeEvent;
  readonly "employee.erased": { readonly idEmployee: Id };
  readonly "webhook.disabled": { readonly idWebhook: Id; readonly reason: "gone" | "failing" | "operator" | (string & {}) };
  readonly ping: Readonly<Record<string, never>>;
}

/** A card and the employee who holds it. */
export interface CardLinkEvent {
  readonly idCard: Id;
  readonly idEmployee: Id;
  readonly statusCard: CardStatus;
  readonly bankStatus: BankStatus;
}

/** A card as the bank has it. */
export interface BankCardEvent {
  readonly idCard: Id;
  readonly idEmployee: Id | null;
  readonly bankStatus: BankStatus;
}

/** An employee who was added or changed. */
export interface EmployeeEvent {
  readonly idEmployee: Id;
  /** `null` once the employee was erased. */
  readonly customId: string | null;
}

/** An event of a type. */
export interface EventOf<T extends string, D> {
  /** Its identifier: an event that is sent again is recognised by it. */
  readonly id: Id;
  /** Its number in the feed. An event that becomes visible later has a greater one. */
  readonly seq: number;
  readonly type: T;
  /** When it happened, by RFC 3339 in UTC: `2026-01-31T09:30:00Z`. */
  readonly createdAt: string;
  readonly data: D;
}

/** An event of a type that this version knows: its `type` tells the form of its `data`. */
export type KnownEvent = { [T in keyof EventData]: EventOf<T, EventData[T]> }[keyof EventData];

/** Something that happened once. A newer service may have further types: pass over those. See {@link isKnown}. */
export type Event = KnownEvent | EventOf<string & {}, unknown>;

const KNOWN = new Set<string>([
  "order.status",
  "replenishment.status",
  "limits.status",
  "closing.status",
  "withdrawal.status",
  "card.issued",
  "card.linked",
  "card.unlinked",
  "card.status",
  "card.bank_status",
  "card.activated",
  "card.expiring",
  "card.expired",
  "card.transaction",
  "card.declined",
  "balance.deposited",
  "balance.returned",
  "balance.withdrawn",
  "balance.corrected",
  "balance.low",
  "employee.created",
  "employee.updated",
  "employee.erased",
  "webhook.disabled",
  "ping",
] satisfies (keyof EventData)[]);

/** Whether this version knows the type of an event. */
export function isKnown(event: Event): event is KnownEvent {
  return KNOWN.has(event.type);
}

/** A piece of the feed. */
export interface Feed {
  /** The events, in the order of their numbers. */
  readonly data: readonly Event[];
  /** The `after` of the following call. */
  readonly next: number;
  /** The least number that is kept. */
  readonly oldest: number;
  /** The greatest number that was given; one less than `oldest` if there is no event. An older service does not say it. */
  readonly newest?: number;
}
