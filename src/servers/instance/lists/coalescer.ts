import type { Clock } from "../../../kernel/runtime/clock.ts";

/**
 * Returns a function that runs `run` soon, but at most once per `intervalMs`, however often it is called (fault 50).
 */
export function createCoalescer(clock: Clock, intervalMs: number, run: () => void): () => void {
  let scheduled = false;
  let lastRunMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (scheduled) return;
    scheduled = true;
    const waitMs = Math.max(0, lastRunMs + intervalMs - clock.monotonic());
    clock.after(waitMs, () => {
      scheduled = false;
      lastRunMs = clock.monotonic();
      run();
    });
  };
}
