/** Webhooks: addresses to which events are delivered. Times are by RFC 3339 in UTC. */

import type { Secret } from "../secret.js";
import type { Id } from "./values.js";

/** An address to which events are delivered. */
export interface Webhook {
  readonly idWebhook: Id;
  readonly url: string;
  /** The types that are delivered; `null` for all. */
  readonly types: readonly string[] | null;
  readonly description: string;
  /** Whether the data of events are encrypted under the partner's sealing key. */
  readonly sealed: boolean;
  readonly enabled: boolean;
  readonly createdAt: string;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  /** The first failed attempt since the last accepted delivery. Three days later the webhook is disabled. */
  readonly failingSince: string | null;
  /** Deliveries that have not ended. */
  readonly pending: number;
}

/** A webhook that was created, with what signs its deliveries: `whsec_` and base64 of 32 bytes. */
export interface WebhookCreated extends Webhook {
  readonly secret: Secret;
}

/** Where a delivery stands. A newer service may have further values. */
export type DeliveryStatus = "PENDING" | "DELIVERED" | "FAILED" | (string & {});

/** An event on its way to a webhook. */
export interface WebhookDelivery {
  readonly idDelivery: Id;
  readonly eventId: Id;
  /** The number of the event in the feed. */
  readonly seq: number;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly lastAttemptAt: string | null;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: string | null;
}
