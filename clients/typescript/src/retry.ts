/** When a call is tried again, and after how long. */

import { sleep } from "./abort.js";
import { ApiError, KopeckError } from "./errors.js";

/**
 * How often a call is tried again, and how much lies between the tries.
 *
 * Tried again is after a loss of the network, a timeout, a status of 408, 429, 500, 502, 503 or 504, and a 409 that says
 * that the first try is still running. The delay doubles from try to try, with a random part, so that clients that failed
 * together do not come back together. A retry cannot do anything twice: it carries the key of its call.
 */
export interface RetryPolicy {
  /** The most retries after the first try. Default: 4. */
  readonly maxRetries: number;
  /** The delay before the first retry, without its random part. Default: 200 ms. */
  readonly minDelayMs: number;
  /** The longest delay, without its random part. Default: 5 s. */
  readonly maxDelayMs: number;
  /** The longest `Retry-After` to wait for. If the service asks for more, the call fails at once. Default: 60 s. */
  readonly maxRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 4,
  minDelayMs: 200,
  maxDelayMs: 5_000,
  maxRetryAfterMs: 60_000,
};

/** The milliseconds before a retry, counted from 0: never less than the service asked for. `undefined` gives up. */
export function delayBefore(policy: RetryPolicy, retry: number, error: KopeckError): number | undefined {
  if (retry >= policy.maxRetries) return undefined;
  const base = Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** retry);
  const delay = base * (1 + Math.random());
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  if (asked === undefined) return delay;
  return asked <= policy.maxRetryAfterMs ? Math.max(asked, delay) : undefined;
}

/** Tries until it succeeds, fails for good, or the retries are used up. */
export async function retrying<T>(
  policy: RetryPolicy,
  attempt: () => Promise<T>,
  mayRetry: (error: KopeckError) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      const passing = error instanceof KopeckError && mayRetry(error);
      const delay = passing ? delayBefore(policy, retry, error) : undefined;
      if (delay === undefined) throw error;
      await sleep(delay, signal);
    }
  }
}
