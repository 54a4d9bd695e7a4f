/** What orders and card batches have in common. */

import { listOf } from "../answer.js";
import { checkedId } from "../call.js";
import type { CallOptions, ChangeOptions, Core, Parts, RequestOptions } from "../core.js";
import type { RequestState, RequestStatus } from "../models/generated.js";
import type { Day, Id } from "../models/values.js";
import type { Operation } from "../operation.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, cardResult, requestStatus, text } from "../read.js";
import { untilFinal, type WaitOptions } from "../wait.js";

/** Which requests to list. By default all. */
export interface RequestFilter {
  readonly status?: RequestState | undefined;
  /** Those with exactly this reference. */
  readonly reference?: string | undefined;
  /** Those accepted on this day and later. */
  readonly from?: Day | undefined;
  /** Those accepted on this day and earlier. */
  readonly to?: Day | undefined;
}

/** What kinds of requests differ in. */
interface Kind {
  /** The field that identifies a request. */
  readonly id: string;
  readonly status: Operation;
  readonly result: Operation;
  readonly cancel: Operation;
  readonly list: Operation;
  /** What the fields of a card's result are called after, and its amount, if it has one. */
  readonly outcome?: readonly [kind: string, amount?: string];
}

/** Calls about requests of one kind; `R` is one in the list of them. */
export class Requests<R> {
  protected readonly core: Core;
  protected readonly kind: Kind;

  constructor(core: Core, kind: Kind) {
    this.core = core;
    this.kind = kind;
  }

  /** Reads the state of a request. */
  async status(id: Id, options?: CallOptions): Promise<RequestStatus> {
    return requestStatus(await this.about(this.kind.status, id, options));
  }

  /** Waits until a request is processed. Rejects with `UnfinishedError` if that takes too long. */
  wait(id: Id, options: WaitOptions = {}): Promise<RequestState> {
    return untilFinal(async () => (await this.status(id, options)).state, options);
  }

  /** Cancels a request that is still new. A closing of lost and stolen cards alone cannot be cancelled. */
  async cancel(id: Id, options?: ChangeOptions): Promise<RequestStatus> {
    return requestStatus(await this.about(this.kind.cancel, id, options));
  }

  /** Lists requests, the newest first. */
  async list(filter: RequestFilter & Paging = {}, options?: CallOptions): Promise<Page<R>> {
    const answer = await this.core.call(this.kind.list, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All requests, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: RequestFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<R, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, (record) => (record as Record<string, unknown>)[this.kind.id], filter.perPage);
  }

  /** A new request; gives its identifier. */
  protected async send(operation: Operation, body: object, options?: RequestOptions): Promise<Id> {
    const answer = await this.core.call(operation, { ...options, body: { ...body, reference: options?.reference } });
    return text(answer, this.kind.id);
  }

  /** An operation on a request, whose identifier stands in the path, in the query of a `GET`, or in the body. */
  protected about(operation: Operation, id: Id, options?: ChangeOptions): Promise<unknown> {
    let parts: Parts = { body: { [this.kind.id]: id } };
    if (operation.path.includes("{")) parts = { id };
    else if (operation.method === "GET") parts = { query: { idReplenishment: checkedId(this.kind.id, id) } };
    return this.core.call(operation, { ...options, ...parts });
  }
}

/** Calls about card batches of one kind; `I` is what became of one card. */
export class CardBatches<R, I> extends Requests<R> {
  /** Reads the result of each card. Rejects with `ApiError` and 409 while there is no result. */
  async result(id: Id, options?: CallOptions): Promise<readonly I[]> {
    const answer = await this.about(this.kind.result, id, options);
    const [kind = "", amount] = this.kind.outcome ?? [];
    return listOf(answer).map((item) => cardResult(item, kind, amount) as I);
  }
}
