import type { Clock } from "../../src/kernel/runtime/clock.ts";

/**
 * Time that stands still until it is moved; timers run in order, and what they start has settled before the next one.
 */
export interface ManualClock extends Clock {
  advance(ms: number): Promise<void>;
  /** How many timers are set. */
  readonly waiting: number;
}

export function createManualClock(): ManualClock {
  let nowMs = 0;
  let timers: { readonly atMs: number; readonly run: () => void }[] = [];
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    get waiting() {
      return timers.length;
    },
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async advance(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        await settle();
        const next = timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers = timers.filter((other) => other !== next);
        nowMs = Math.max(nowMs, next.atMs);
        next.run();
      }
      nowMs = endMs;
      await settle();
    },
  };
}

/** Everything that waits for nothing but promises has run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < settleTurns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const settleTurns = 20;
