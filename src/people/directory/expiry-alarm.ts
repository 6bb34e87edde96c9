import type { Clock } from "../../kernel/runtime/clock.ts";

/** One timer for whatever expires next, however much there is. */
export interface ExpiryAlarm {
  /** Something expires then. */
  expect(atMs: number): void;
  stop(): void;
}

/** What expires at about the same time ends together: looking through everything costs a millisecond. */
const grainMs = 500;
/** The longest wait: the clock of the machine may be changed meanwhile. */
const longestWaitMs = 60_000;

/**
 * @param ring ends what has expired, and returns the time (wall clock, in ms) at which something expires next. Called
 *   at most half a second after it was due, and once a minute in any case.
 */
export function createExpiryAlarm(clock: Pick<Clock, "now" | "after">, ring: () => number): ExpiryAlarm {
  let dueMs = Number.POSITIVE_INFINITY;
  let cancel = (): void => undefined;

  function set(atMs: number): void {
    const now = clock.now();
    dueMs = Math.min(Math.ceil(atMs / grainMs) * grainMs, now + longestWaitMs);
    cancel();
    cancel = clock.after(Math.max(0, dueMs - now), () => set(ring()));
  }
  set(Number.POSITIVE_INFINITY);

  return {
    expect(atMs) {
      if (Math.ceil(atMs / grainMs) * grainMs < dueMs) set(atMs);
    },
    stop: () => cancel(),
  };
}
