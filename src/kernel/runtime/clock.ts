/** Time as a dependency, so that tests can control it. All values are milliseconds. */
export interface Clock {
  /** Wall-clock time, for times that people read and times that are stored beyond the life of the process. */
  now(): number;
  /** Never jumps when the system clock is changed; every duration is measured with it (fault 110). */
  monotonic(): number;
  /**
   * Calls `run` once after `delayMs`. The timer does not keep the process alive. Returns the function that cancels
   * it.
   */
  after(delayMs: number, run: () => void): () => void;
}

/** The real clock of this machine. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
});
