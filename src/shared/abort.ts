/** The reason of an aborted signal as an Error, whatever was given to abort(). */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error(`aborted: ${String(reason)}`);
}

/** Waits for `promise` no longer than until `signal` aborts. The promise itself goes on; its late failure is ignored. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw abortReason(signal);
  }
  let giveUp: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(abortReason(signal));
    signal.addEventListener("abort", giveUp, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (giveUp) signal.removeEventListener("abort", giveUp);
    promise.catch(() => undefined);
  }
}

/** Resolves after `delayMs`, rejects with the signal's reason when aborted before. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const giveUp = () => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    }, delayMs);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}
