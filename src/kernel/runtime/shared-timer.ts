import { longestMs } from "../limits.ts";
/**
 * One timer for many deadlines, set to the earliest of them. A timer for each call would cost more than all other
 * work on a waiting call.
 */
export interface Alarm {
  /** Makes the alarm ring at `atMs` (performance.now) or earlier. */
  setFor(atMs: number, nowMs: number): void;
  clear(): void;
}

/** `onRing` handles the due work and returns when it wants to be called again; Infinity for not at all. */
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
    // Reset before ringing, because handling the due work may set the alarm again.
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
