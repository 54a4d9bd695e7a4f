/** Waiting that can be called off. */

/** Waits for some milliseconds. Rejects with the reason of the signal, if that comes first. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return abortable(signal, (done) => {
    const timer = setTimeout(done, milliseconds);
    return () => clearTimeout(timer);
  });
}

/** Waits for what others wait for too, and which goes on if this one is called off. */
export function shared<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  // A failure after the last waiter has gone is ignored.
  work.catch(() => undefined);
  return abortable(signal, (done, failed) => {
    work.then(done, failed);
    return () => undefined;
  });
}

function abortable<T>(
  signal: AbortSignal | undefined,
  start: (done: (value: T) => void, failed: (reason: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const forget = () => signal?.removeEventListener("abort", calledOff);
    const stop = start(
      (value) => (forget(), resolve(value)),
      (reason) => (forget(), reject(reason)),
    );
    const calledOff = () => (stop(), reject(signal!.reason));
    signal?.addEventListener("abort", calledOff, { once: true });
  });
}
