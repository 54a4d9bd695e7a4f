/** Waiting for a request to be processed. */

import { sleep } from "./abort.js";
import type { CallOptions } from "./core.js";
import { UnfinishedError } from "./errors.js";
import type { RequestState } from "./models/generated.js";
import { isFinal } from "./models/state.js";

export interface WaitOptions extends CallOptions {
  /** How long to wait. Default: two minutes. */
  readonly timeoutMs?: number;
  /** Receives each state seen. */
  readonly onProgress?: (state: RequestState) => void;
}

const MIN_INTERVAL_MS = 250;
const MAX_INTERVAL_MS = 5_000;

/** Asks by `poll` until the state is a final one, at intervals that double from 250 ms to 5 s. */
export async function untilFinal(
  poll: () => Promise<RequestState>,
  { timeoutMs = 120_000, onProgress, signal }: WaitOptions,
): Promise<RequestState> {
  const deadline = performance.now() + timeoutMs;
  for (let interval = MIN_INTERVAL_MS; ; interval = Math.min(interval * 2, MAX_INTERVAL_MS)) {
    const state = await poll();
    onProgress?.(state);
    if (isFinal(state)) return state;
    const remaining = deadline - performance.now();
    if (remaining <= 0) throw new UnfinishedError(state);
    await sleep(Math.min(interval, remaining), signal);
  }
}
