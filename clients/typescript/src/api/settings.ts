/** The partner's settings. */

import type { CallOptions, ChangeOptions, Core } from "../core.js";
import type { LeaverSettings, PartnerSettings } from "../models/generated.js";
import { SETTINGS_GET, SETTINGS_UPDATE } from "../operations.js";
import { as } from "../read.js";

/** Calls about the partner's settings. */
export class Settings {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Reads the settings. */
  async get(options?: CallOptions): Promise<PartnerSettings> {
    return as(await this.#core.call(SETTINGS_GET, options));
  }

  /** Replaces the settings: what happens to the cards of employees who become `DONT_WORK` from then on. */
  async update(leavers: LeaverSettings, options?: ChangeOptions): Promise<PartnerSettings> {
    return as(await this.#core.call(SETTINGS_UPDATE, { ...options, body: { leavers } }));
  }
}
