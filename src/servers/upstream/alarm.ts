import { longestMs } from "../../kernel/limits.ts";
/**
 * One timer for many deadlines, set to the earliest of them: a timer for each call would cost more than all else that
 * waits for it.
 */
export interface Alarm {
  /** Rings at `atMs` (performance.now), or before. */
  setFor(atMs: number, nowMs: number): void;
  clear(): void;
}

/** `onRing` deals with what is due and says when it wants to be called again, Infinity for not at all. */
export function createAlarm(onRing: (nowMs: number) => number): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let ringsAtMs = Number.POSITIVE_INFINITY;

  function setFor(atMs: number, nowMs: number): void {
    if (atMs >= ringsAtMs) return;
    clearTimeout(timer);
    ringsAtMs = atMs;
    timer = setTimeout(ring, Math.min(Math.max(1, Math.ceil(atMs - nowMs)), longestMs));
    timer.unref();
  }

  function ring(): void {
    const nowMs = performance.now();
    // Before it rings: what is dealt with may set it anew at once.
    ringsAtMs = Number.POSITIVE_INFINITY;
    setFor(onRing(nowMs), nowMs);
  }

  return {
    setFor,
    clear() {
      clearTimeout(timer);
      ringsAtMs = Number.POSITIVE_INFINITY;
    },
  };
}
