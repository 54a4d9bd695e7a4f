/** Webhooks. */

import { objectOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core } from "../core.js";
import { DecodeError } from "../errors.js";
import type { DeliveryStatus, NewWebhook, Webhook, WebhookChange, WebhookCreated, WebhookDelivery } from "../models/generated.js";
import type { Id, Redelivery } from "../models/values.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type Paging } from "../pages.js";
import { as, text } from "../read.js";
import { Secret } from "../secret.js";

/** Calls about webhooks. {@link WebhookVerifier} checks what they deliver. */
export class Webhooks {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates a webhook. Its secret is in this answer alone. */
  async create(webhook: NewWebhook, options?: ChangeOptions): Promise<WebhookCreated> {
    const answer = await this.#core.call(operations.WEBHOOK_CREATE, { ...options, body: webhook });
    return { ...as<Webhook>(answer), secret: new Secret(text(answer, "secret")) };
  }

  /** Lists webhooks, the first created first; there are ten at most. */
  async list(paging: Paging = {}, options?: CallOptions): Promise<Page<Webhook>> {
    const answer = await this.#core.call(operations.WEBHOOK_LIST, { ...options, query: listQuery(paging) });
    return pageOf(answer, (item) => as(item));
  }

  /** The webhook with this identifier. */
  async get(idWebhook: Id, options?: CallOptions): Promise<Webhook> {
    return as(await this.#core.call(operations.WEBHOOK_GET, { ...options, id: idWebhook }));
  }

  /** Changes a webhook. */
  async update(idWebhook: Id, change: WebhookChange, options?: ChangeOptions): Promise<Webhook> {
    return as(await this.#core.call(operations.WEBHOOK_UPDATE, { ...options, id: idWebhook, body: change }));
  }

  /** Deletes a webhook with its deliveries, and gives what it was. */
  async delete(idWebhook: Id, options?: ChangeOptions): Promise<Webhook> {
    return as(await this.#core.call(operations.WEBHOOK_DELETE, { ...options, id: idWebhook }));
  }

  /** Gives a webhook another secret. For 24 hours the one before signs too. */
  async rotateSecret(idWebhook: Id, options?: ChangeOptions): Promise<Secret> {
    const answer = await this.#core.call(operations.WEBHOOK_ROTATE_SECRET, { ...options, id: idWebhook });
    return new Secret(text(answer, "secret"));
  }

  /** Sends a test event, and gives its identifier. */
  async ping(idWebhook: Id, options?: ChangeOptions): Promise<Id> {
    return text(await this.#core.call(operations.WEBHOOK_PING, { ...options, id: idWebhook }), "eventId");
  }

  /** Lists the deliveries of a webhook, newest first. */
  async deliveries(
    idWebhook: Id,
    filter: Paging & { readonly status?: DeliveryStatus | undefined } = {},
    options?: CallOptions,
  ): Promise<Page<WebhookDelivery>> {
    const parts = { ...options, id: idWebhook, query: listQuery(filter) };
    return pageOf(await this.#core.call(operations.WEBHOOK_DELIVERIES, parts), (item) => as(item));
  }

  /** All deliveries of a webhook, newest first, read page by page as they are asked for. */
  allDeliveries(idWebhook: Id, options?: CallOptions): AsyncGenerator<WebhookDelivery, void, undefined> {
    return everyRecord((paging) => this.deliveries(idWebhook, paging, options), ({ idDelivery }) => idDelivery);
  }

  /** Delivers events once more, and gives how many. */
  async redeliver(idWebhook: Id, which: Redelivery, options?: ChangeOptions): Promise<number> {
    const answer = await this.#core.call(operations.WEBHOOK_REDELIVER, { ...options, id: idWebhook, body: which });
    const { deliveries } = objectOf(answer);
    if (typeof deliveries !== "number") throw new DecodeError("the answer has no deliveries");
    return deliveries;
  }
}
