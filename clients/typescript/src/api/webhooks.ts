/** Webhooks. */

import { objectOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core } from "../core.js";
import { DecodeError } from "../errors.js";
import type { Id } from "../models/values.js";
import type { DeliveryStatus, Webhook, WebhookCreated, WebhookDelivery } from "../models/webhooks.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type Paging } from "../pages.js";
import { as, text } from "../read.js";
import { Secret } from "../secret.js";

/** A webhook that is to be created. */
export interface NewWebhook {
  /** Where events are posted. */
  readonly url: string;
  /** Only events of these types. Default: all. */
  readonly types?: readonly string[] | null | undefined;
  /** The partner's own words. */
  readonly description?: string | undefined;
  /** Whether the data of events are encrypted. Default: if the partner's sealing policy is `required`. */
  readonly sealed?: boolean | undefined;
}

/** What is to be changed of a webhook; what is absent stays as it is, and `types: null` is all types. */
export interface WebhookChange extends Partial<NewWebhook> {
  readonly enabled?: boolean | undefined;
}

/** Which events are delivered once more: one, or all behind a number of the feed that were not delivered. */
export type Redelivery = { readonly eventId: Id } | { readonly after: number };

/** Calls about webhooks. {@link WebhookVerifier} checks what they deliver. */
export class Webhooks {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates a webhook. Its secret is in this answer alone. */
  async create(webhook: NewWebhook, options?: ChangeOptions): Promise<WebhookCreated> {
    const answer = await this.#core.call(operations.CREATE_WEBHOOK, { ...options, body: webhook });
    return { ...as<Webhook>(answer), secret: new Secret(text(answer, "secret")) };
  }

  /** Lists webhooks, the first created first; there are ten at most. */
  async list(paging: Paging = {}, options?: CallOptions): Promise<Page<Webhook>> {
    const answer = await this.#core.call(operations.LIST_WEBHOOKS, { ...options, query: listQuery(paging) });
    return pageOf(answer, (item) => as(item));
  }

  /** The webhook with this identifier. */
  async get(idWebhook: Id, options?: CallOptions): Promise<Webhook> {
    return as(await this.#core.call(operations.GET_WEBHOOK, { ...options, id: idWebhook }));
  }

  /** Changes a webhook. */
  async update(idWebhook: Id, change: WebhookChange, options?: ChangeOptions): Promise<Webhook> {
    return as(await this.#core.call(operations.UPDATE_WEBHOOK, { ...options, id: idWebhook, body: change }));
  }

  /** Deletes a webhook with its deliveries, and gives what it was. */
  async delete(idWebhook: Id, options?: ChangeOptions): Promise<Webhook> {
    return as(await this.#core.call(operations.DELETE_WEBHOOK, { ...options, id: idWebhook }));
  }

  /** Gives a webhook another secret. For 24 hours the one before signs too. */
  async rotateSecret(idWebhook: Id, options?: ChangeOptions): Promise<Secret> {
    const answer = await this.#core.call(operations.ROTATE_WEBHOOK_SECRET, { ...options, id: idWebhook });
    return new Secret(text(answer, "secret"));
  }

  /** Sends a test event, and gives its identifier. */
  async ping(idWebhook: Id, options?: ChangeOptions): Promise<Id> {
    return text(await this.#core.call(operations.PING_WEBHOOK, { ...options, id: idWebhook }), "eventId");
  }

  /** Lists the deliveries of a webhook, newest first. */
  async deliveries(
    idWebhook: Id,
    filter: Paging & { readonly status?: DeliveryStatus | undefined } = {},
    options?: CallOptions,
  ): Promise<Page<WebhookDelivery>> {
    const parts = { ...options, id: idWebhook, query: listQuery(filter) };
    return pageOf(await this.#core.call(operations.LIST_DELIVERIES, parts), (item) => as(item));
  }

  /** All deliveries of a webhook, newest first, read page by page as they are asked for. */
  allDeliveries(idWebhook: Id, options?: CallOptions): AsyncGenerator<WebhookDelivery, void, undefined> {
    return everyRecord((paging) => this.deliveries(idWebhook, paging, options), ({ idDelivery }) => idDelivery);
  }

  /** Delivers events once more, and gives how many. */
  async redeliver(idWebhook: Id, which: Redelivery, options?: ChangeOptions): Promise<number> {
    const answer = await this.#core.call(operations.REDELIVER, { ...options, id: idWebhook, body: which });
    const { deliveries } = objectOf(answer);
    if (typeof deliveries !== "number") throw new DecodeError("the answer has no deliveries");
    return deliveries;
  }
}
