/** Programmes: rules that make a run for each period. */

import { listOf } from "../answer.js";
import type { CallOptions, ChangeOptions, Core } from "../core.js";
import type { NewProgramme, Programme, ProgrammeForecast, Run } from "../models/generated.js";
import type { Day, Id } from "../models/values.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, type PageSize, pageOf, type Paging } from "../pages.js";
import { as } from "../read.js";

/** Calls about programmes. */
export class Programmes {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates a programme. */
  async create(terms: NewProgramme, options?: ChangeOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_CREATE, { ...options, body: terms }));
  }

  /** Lists programmes, oldest first. */
  async list(paging: Paging = {}, options?: CallOptions): Promise<Page<Programme>> {
    const answer = await this.#core.call(operations.PROGRAMME_LIST, { ...options, query: listQuery(paging) });
    return pageOf(answer, (item) => as(item));
  }

  /** All programmes, oldest first, read page by page as they are asked for. */
  all(size: PageSize = {}, options?: CallOptions): AsyncGenerator<Programme, void, undefined> {
    return everyRecord((paging) => this.list(paging, options), ({ idProgramme }) => idProgramme, size.perPage);
  }

  /** The programme with this identifier. */
  async get(idProgramme: Id, options?: CallOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_GET, { ...options, id: idProgramme }));
  }

  /** Gives a programme other terms, for the periods that have no run yet. */
  async change(idProgramme: Id, terms: NewProgramme, options?: ChangeOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_CHANGE, { ...options, id: idProgramme, body: terms }));
  }

  /** Deletes a programme. Its runs stay. */
  async delete(idProgramme: Id, options?: ChangeOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_DELETE, { ...options, id: idProgramme }));
  }

  /** Pauses a programme: it makes no run until it is resumed. */
  async pause(idProgramme: Id, options?: ChangeOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_PAUSE, { ...options, id: idProgramme }));
  }

  /** Resumes a programme. What was due meanwhile is not made up for. */
  async resume(idProgramme: Id, options?: ChangeOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_RESUME, { ...options, id: idProgramme }));
  }

  /** Approves a programme that another has created, or the change of it that waits. */
  async approve(idProgramme: Id, options?: ChangeOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_APPROVE, { ...options, id: idProgramme, body: {} }));
  }

  /** Refuses a programme, or the change of it that waits. */
  async refuse(idProgramme: Id, options?: ChangeOptions): Promise<Programme> {
    return as(await this.#core.call(operations.PROGRAMME_REFUSE, { ...options, id: idProgramme, body: {} }));
  }

  /** Lists the runs of a programme, newest first. */
  async runs(idProgramme: Id, paging: Paging = {}, options?: CallOptions): Promise<Page<Run>> {
    const parts = { ...options, id: idProgramme, query: listQuery(paging) };
    return pageOf(await this.#core.call(operations.PROGRAMME_RUNS, parts), (item) => as(item));
  }

  /** What all programmes will do up to and on a day, if nothing else changes until then. */
  async forecast(until: Day, options?: CallOptions): Promise<readonly ProgrammeForecast[]> {
    const answer = await this.#core.call(operations.PROGRAMME_FORECAST, { ...options, query: { until } });
    return listOf(answer).map((row) => as(row));
  }

  /**
   * What all programmes would do if these terms were in force: those of a new programme, whose identifier is nil, or in the place of
   * those of `idProgramme`. Nothing is changed. `forecastUntil` is 92 days ahead by default.
   */
  async preview(
    terms: NewProgramme & { readonly idProgramme?: Id; readonly forecastUntil?: Day },
    options?: CallOptions,
  ): Promise<readonly ProgrammeForecast[]> {
    const answer = await this.#core.call(operations.PROGRAMME_PREVIEW, { ...options, body: terms });
    return listOf(answer).map((row) => as(row));
  }
}
