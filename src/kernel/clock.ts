/** Time as an argument, so that a test can move it. Milliseconds everywhere. */
export interface Clock {
  /** Wall clock, for what people read and what outlives the process. */
  now(): number;
  /** Never jumps: for every duration (fault 110). */
  monotonic(): number;
  /** Runs once after `delayMs`; does not keep the process alive. Returns the cancel function. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
});
