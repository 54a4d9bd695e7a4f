/** The TypeScript client of the Kopeck API, for partners. Money is in kopecks, everywhere. */

export type { AvailableFilter, CardFilter, Cards, TransactionFilter } from "./api/cards.js";
export type { Categories, EmployeeFilter, Employees, TaggedEmployee } from "./api/employees.js";
export type { Closings } from "./api/closings.js";
export type { RequestLog, RequestLogFilter, RequestLogQuery, Sessions } from "./api/sessions.js";
export type { EventFilter, EventQuery, Events } from "./api/events.js";
export type { Limits } from "./api/limits.js";
export type { Orders } from "./api/orders.js";
export type { RequestFilter } from "./api/requests.js";
export type { Replenishments } from "./api/replenishments.js";
export type { Programmes } from "./api/programmes.js";
export type { NewRunFile, RunFilter, RunItemFilter, Runs } from "./api/runs.js";
export type { Sandbox } from "./api/sandbox.js";
export type { Settings } from "./api/settings.js";
export type { EntryFilter, ReportFilter, Statements, TransactionFeedFilter, TransactionFeedQuery } from "./api/statements.js";
export type { Webhooks } from "./api/webhooks.js";
export type { Withdrawals } from "./api/withdrawals.js";
export { Client, type ClientOptions } from "./client.js";
export { type CallOptions, type ChangeOptions, newKey, type RequestOptions, type UpdateOptions } from "./core.js";
export {
  ApiError,
  CallTimeoutError,
  type CardFault,
  CardsError,
  ConfigError,
  DecodeError,
  type FieldFault,
  InvalidError,
  KopeckError,
  SealingError,
  TlsError,
  TransportError,
  UnfinishedError,
} from "./errors.js";
export { type Event, type EventOf, type Feed, isKnown, type KnownEvent } from "./models/events.js";
export type * from "./models/generated.js";
export { isFinal } from "./models/state.js";
export type * from "./models/values.js";
export type { Page, PageSize, Paging } from "./pages.js";
export type { RetryPolicy } from "./retry.js";
export { SealingKey } from "./sealing.js";
export { Secret } from "./secret.js";
export type { WaitOptions } from "./wait.js";
export { WebhookError, type WebhookFault, type WebhookHeaders, WebhookVerifier, type WebhookVerifierOptions } from "./webhooks.js";
