/** Words of the service. A newer service may add some, so each type takes any other text too. */

type Other = string & Record<never, never>;

/** What an employee is doing: at work, on vacation, on sick leave, not working any more (archived). */
export type EmployeeStatus = "WORK" | "VACATION" | "MEDICAL" | "DONT_WORK" | Other;

/**
 * The kind of a card: virtual (`MLZ`), plastic (`MP4`) and benefits-programme plastic (`KKL`) of the national payment
 * system; plastic of international payment networks (`P04`, `CP4`), which cannot be ordered.
 */
export type CardType = "MLZ" | "MP4" | "KKL" | "P04" | "CP4" | Other;

/**
 * What a card is to its employee. Top-ups go to the `MAIN` one, of which there is one at most. `TEMPORARILY_BLOCKED` is
 * blocked by you, at the bank too.
 */
export type CardStatus = "MAIN" | "ADDITIONAL" | "TEMPORARILY_BLOCKED" | Other;

/**
 * Whether a card can pay. `BLOCKING` and `UNBLOCKING` are your own block and unblock that the bank has not confirmed yet;
 * `BLOCKED_BY_BANK` is a block of the bank's own.
 */
export type BankStatus = "OPEN" | "BLOCKING" | "BLOCKED" | "UNBLOCKING" | "BLOCKED_BY_BANK" | "CLOSED" | Other;

/** The kind of a transaction, which tells the direction of its money. `REVERSAL` is money taken back from the card. */
export type TransactionType = "REPLENISHMENT" | "PAYMENT" | "REFUND" | "REVERSAL" | "CORRECTION" | Other;

/** Why a card is closed. `LEAVER`: its holder leaves. `LOST` and `STOLEN` block it at once. */
export type ClosingReason = "LOST" | "STOLEN" | "DAMAGED" | "LEAVER" | "OTHER" | Other;

/**
 * What an entry of the balance is: money arrived (`DEPOSIT`), was held (`HOLD`), spent (`DEBIT`) or released (`RELEASE`), came
 * back from a card (`RETURN`) or was paid to you (`WITHDRAWAL`); a deposit was reversed (`CORRECTION`).
 */
export type EntryType = "DEPOSIT" | "HOLD" | "DEBIT" | "RELEASE" | "RETURN" | "WITHDRAWAL" | "CORRECTION" | Other;

/** What an entry of the balance belongs to. */
export type EntrySourceKind =
  | "order"
  | "replenishment"
  | "closing"
  | "withdrawal"
  | "deposit"
  | "partner_withdrawal"
  | "correction"
  | Other;

/** The calendar period that an amount is for: day, week from Monday, month, quarter. */
export type LimitPeriod = "CDAY" | "CWEEK" | "CMONTH" | "CQUARTET" | Other;

/** What was ordered. */
export type OrderKind = "PLASTIC" | "VIRTUAL" | Other;

/** The state of an order, a top-up request, a change of limits, a closing or a withdrawal. */
export type RequestState =
  | "NEW"
  | "IN_PROCESS"
  | "SUCCESS"
  | "PART_SUCCESS"
  | "DECLINE"
  | "REJECTED"
  | "CONFIRMED"
  | Other;

const FINAL_STATES = new Set<RequestState>(["SUCCESS", "PART_SUCCESS", "DECLINE", "REJECTED", "CONFIRMED"]);

/** Whether the service is done with the request. A state that the client does not know is not final. */
export function isFinal(state: RequestState): boolean {
  return FINAL_STATES.has(state);
}

/** The stable words by which the service names its refusals; docs/API.md says what to do about each. */
export type ErrorCode =
  | "bad_credentials"
  | "unauthorized"
  | "too_many_requests"
  | "not_found"
  | "employee_not_found"
  | "card_not_found"
  | "category_not_found"
  | "category_exists"
  | "category_in_use"
  | "employee_has_main_card"
  | "card_already_linked"
  | "card_linked_to_another"
  | "card_not_available"
  | "card_expired"
  | "card_blocked"
  | "card_in_use"
  | "employee_has_cards"
  | "card_closed"
  | "card_not_main"
  | "card_in_request"
  | "insufficient_balance"
  | "order_not_found"
  | "order_cancelled"
  | "order_declined"
  | "order_not_processed"
  | "order_not_confirmable"
  | "order_not_cancellable"
  | "request_not_found"
  | "request_not_processed"
  | "request_cancelled"
  | "request_not_cancellable"
  | "events_expired"
  | "events_ahead"
  | "too_many_webhooks"
  | "webhook_not_found"
  | "webhook_disabled"
  | "limit_conflict"
  | "request_in_progress"
  | "request_timeout"
  | "method_not_allowed"
  | "payload_too_large"
  | "uri_too_long"
  | "unsupported_media_type"
  | "bank_unavailable"
  | "internal"
  | Other;
