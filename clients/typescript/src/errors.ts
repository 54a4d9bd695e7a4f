/** What can go wrong with a call. No error holds a token, a password, a sealing key or a body. */

import type { ErrorCode, RequestState } from "./models/generated.js";

const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

/** Whatever goes wrong with a call, but that it was aborted. */
export class KopeckError extends Error {
  /** The key of the failed call, if it was to change something. Call again under it to repeat that very call. */
  idempotencyKey: string | undefined = undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  /** Whether the same call may succeed a moment later. The client has then tried as often as it may. */
  get isTransient(): boolean {
    return false;
  }

  /** Whether the service may have done what was asked without a response arriving. */
  get mayHaveHappened(): boolean {
    return false;
  }
}

/** The client is set up, or called, in a way that cannot work; nothing was sent. */
export class ConfigError extends KopeckError {}

/** The network failed. */
export class TransportError extends KopeckError {
  /** Whether the call may have reached the service. A browser does not tell, so there it always may. */
  readonly sent: boolean;

  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.sent = sent;
  }

  override get isTransient(): boolean {
    return true;
  }

  override get mayHaveHappened(): boolean {
    return this.sent;
  }
}

/**
 * No TLS connection to the service can be made, and a retry will not change that; nothing was sent. Its certificate is not
 * accepted, or one side speaks TLS and the other does not. Browsers do not tell, so there it is a `TransportError`.
 */
export class TlsError extends TransportError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, false, options);
  }

  override get isTransient(): boolean {
    return false;
  }
}

/** No whole answer came in time. The service may have got the call all the same. */
export class CallTimeoutError extends KopeckError {
  override get isTransient(): boolean {
    return true;
  }

  override get mayHaveHappened(): boolean {
    return true;
  }
}

/** What an error of the service has beside status, code and message. */
export interface ApiErrorDetails {
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** What the client itself knows of the reason. */
  readonly note?: string | undefined;
}

/** The service refused the call. */
export class ApiError extends KopeckError {
  /** The HTTP status. */
  readonly status: number;
  /** The stable word for the reason; of a list of cards, that of the first. `undefined` where there is none. */
  readonly code: ErrorCode | undefined;
  /** The reason in words, for a person. */
  readonly reason: string;
  /** The id under which the service logged the call, to quote to the support. */
  readonly requestId: string | undefined;
  /** How many milliseconds the service asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, code: ErrorCode | undefined, reason: string, details: ApiErrorDetails = {}) {
    super(`status ${status}${code ? ` ${code}` : ""}: ${reason}`);
    this.status = status;
    this.code = code;
    this.reason = reason;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }

  override get isTransient(): boolean {
    return PASSING_STATUSES.has(this.status) || this.code === "request_in_progress";
  }

  override get mayHaveHappened(): boolean {
    return this.status === 500 || this.status === 502 || this.status === 504;
  }
}

/** A faulty field of a call. */
export interface FieldFault {
  /** The name of the field; an item of a list is named `cards[3].idCard`. */
  readonly field: string;
  /** That the value is not correct; always the same text. */
  readonly message: string;
  /** What is wrong with the value, in words. */
  readonly detail?: string | null;
}

/** A card that prevents a request. */
export interface CardFault {
  readonly message: string;
  readonly code?: ErrorCode | null;
  /** The card; absent if the request named it otherwise and there is none. */
  readonly idCard?: string | null;
  /** Its number, if that is how the request named it. */
  readonly customIdCard?: string | null;
  /** The employee, if that is how the request named the card. */
  readonly idEmployee?: string | null;
  /** The employee's `customId`, if that is how the request named the card. */
  readonly customId?: string | null;
}

/** The service found faulty values (422). All faulty fields are listed at once. */
export class InvalidError extends ApiError {
  readonly faults: readonly FieldFault[];

  constructor(faults: readonly FieldFault[], details?: ApiErrorDetails) {
    const listed = faults.map(({ field, message, detail }) => `${field}: ${detail ?? message}`).join("; ");
    super(422, undefined, `faulty values: ${listed}${details?.note ? `; ${details.note}` : ""}`, details);
    this.faults = faults;
  }
}

/** Some of the cards of a request stand in its way (404 or 409 of a top-up or limit change). */
export class CardsError extends ApiError {
  readonly faults: readonly CardFault[];

  constructor(status: number, faults: readonly CardFault[], details?: ApiErrorDetails) {
    const named = (fault: CardFault) => fault.customIdCard ?? fault.idEmployee ?? fault.customId ?? fault.idCard;
    const listed = faults.map((fault) => (named(fault) ? `${named(fault)}: ${fault.message}` : fault.message)).join("; ");
    super(status, faults[0]?.code ?? undefined, `faulty cards: ${listed}`, details);
    this.faults = faults;
  }
}

/**
 * A value is not sealed as it should be.
 *
 * An answer may then have been changed on its way, or answer another call, or the clocks of client and service differ by
 * more than five minutes.
 */
export class SealingError extends KopeckError {}

/** The answer is not of the form that the call answers with. */
export class DecodeError extends KopeckError {}

/** A request was not finished within the time to wait for it. */
export class UnfinishedError extends KopeckError {
  /** The state seen last. */
  readonly last: RequestState;

  constructor(last: RequestState) {
    super(`the request is not finished, last seen: ${last}`);
    this.last = last;
  }
}
