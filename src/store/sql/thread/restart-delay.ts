/** How long to wait before something that died is started again: longer each time. */
export interface RestartDelay {
  /** It starts now. */
  started(nowMs: number): void;
  /** It ended: the wait before the next start. */
  next(nowMs: number): number;
}

const firstMs = 1_000;
const longestMs = 60_000;

/** Times are of the monotonic clock. After a life of a minute it begins with one second again. */
export function createRestartDelay(): RestartDelay {
  let delayMs = firstMs;
  let startedMs = 0;
  return {
    started(nowMs) {
      startedMs = nowMs;
    },
    next(nowMs) {
      if (nowMs - startedMs > longestMs) delayMs = firstMs;
      const waitMs = delayMs;
      delayMs = Math.min(2 * delayMs, longestMs);
      return waitMs;
    },
  };
}
