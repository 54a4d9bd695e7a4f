/** Runs: lists of changes for many people, checked and shown before anything happens. */

import { listOf } from "../answer.js";
import { encodeBase64 } from "../bytes.js";
import type { CallOptions, ChangeOptions, Core } from "../core.js";
import { DecodeError } from "../errors.js";
import { MEDIA_TYPES } from "./statements.js";
import type { NewRun, Run, RunItem, RunKind, RunOutcome, RunState } from "../models/generated.js";
import type { Day, Id } from "../models/values.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, type PageSize, pageOf, type Paging } from "../pages.js";
import { as } from "../read.js";

/** The terms of a run that is made of a file. */
export type NewRunFile = Omit<NewRun, "items" | "file">;

/** Which runs to list. By default all. */
export interface RunFilter {
  readonly kind?: RunKind | undefined;
  readonly status?: RunState | undefined;
  /** Those with exactly this reference. */
  readonly reference?: string | undefined;
  /** Those created on this day and later. */
  readonly from?: Day | undefined;
  /** Those created on this day and earlier. */
  readonly to?: Day | undefined;
}

/** Which items of a run to list. By default all. */
export interface RunItemFilter {
  /** With a fault, or without. */
  readonly faulty?: boolean | undefined;
  readonly outcome?: RunOutcome | undefined;
}

/** Calls about runs. */
export class Runs {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates a run, and gives what it would come to. Nothing happens before it is submitted. */
  async create(run: NewRun, options?: ChangeOptions): Promise<Run> {
    return as(await this.#core.call(operations.RUN_CREATE, { ...options, body: run }));
  }

  /**
   * Creates a run of the rows of a file: CSV in UTF-8, UTF-16 or Windows-1251, or an XLSX workbook. Its first row names the
   * columns, such as `customId` and `amount`.
   */
  async createFromFile(file: Uint8Array, run: NewRunFile, options?: ChangeOptions): Promise<Run> {
    const body = { ...run, file: encodeBase64(file) };
    return as(await this.#core.call(operations.RUN_CREATE, { ...options, body }));
  }

  /** The run with this identifier. */
  async get(idRun: Id, options?: CallOptions): Promise<Run> {
    return as(await this.#core.call(operations.RUN_GET, { ...options, id: idRun }));
  }

  /** Lists the items of a run, in their order. */
  async items(idRun: Id, filter: RunItemFilter & Paging = {}, options?: CallOptions): Promise<Page<RunItem>> {
    const parts = { ...options, id: idRun, query: listQuery(filter) };
    return pageOf(await this.#core.call(operations.RUN_ITEMS, parts), (item) => as(item));
  }

  /** Submits a run as its digest names it. Items with a fault prevent that, unless they are skipped. */
  async submit(idRun: Id, digest: string, skipFaulty = false, options?: ChangeOptions): Promise<Run> {
    const body = { digest, skipFaulty };
    return as(await this.#core.call(operations.RUN_SUBMIT, { ...options, id: idRun, body }));
  }

  /** Approves a run that another has submitted, as its digest names it. */
  async approve(idRun: Id, digest: string, options?: ChangeOptions): Promise<Run> {
    return as(await this.#core.call(operations.RUN_APPROVE, { ...options, id: idRun, body: { digest } }));
  }

  /** Refuses to approve a run. */
  async refuse(idRun: Id, reason?: string, options?: ChangeOptions): Promise<Run> {
    const body = reason === undefined ? {} : { reason };
    return as(await this.#core.call(operations.RUN_REFUSE, { ...options, id: idRun, body }));
  }

  /** Cancels a run that has not begun. */
  async cancel(idRun: Id, options?: ChangeOptions): Promise<Run> {
    return as(await this.#core.call(operations.RUN_CANCEL, { ...options, id: idRun }));
  }

  /** What became of each item, in their order. */
  async result(idRun: Id, options?: CallOptions): Promise<readonly RunItem[]> {
    return listOf(await this.#core.call(operations.RUN_RESULT, { ...options, id: idRun })).map((item) => as(item));
  }

  /**
   * What became of each item, as a file with the columns that the run was made of, then `outcome` and `reason`. It is not
   * sealed, even if the client seals.
   */
  async resultFile(idRun: Id, format: "csv" | "xlsx", options?: CallOptions): Promise<Uint8Array> {
    const answer = await this.#core.call(operations.RUN_RESULT, { ...options, id: idRun, accept: MEDIA_TYPES[format] });
    if (!(answer instanceof Uint8Array)) throw new DecodeError("the answer is no file");
    return answer;
  }

  /** Lists runs, newest first. */
  async list(filter: RunFilter & Paging = {}, options?: CallOptions): Promise<Page<Run>> {
    const answer = await this.#core.call(operations.RUN_LIST, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => as(item));
  }

  /** All runs that fit, newest first, read page by page as they are asked for. */
  all(filter: RunFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<Run, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ idRun }) => idRun, filter.perPage);
  }
}
