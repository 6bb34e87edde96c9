/** How often new sessions may be opened at one server in the place of lost ones; kept for longer than a connection. */
export interface RenewalBudget {
  /**
   * Whether a session may be opened now. "later": the last one was lost before it was of use, and its delay is not
   * over. "exhausted": there were too many within a minute.
   */
  take(): "now" | "later" | "exhausted";
  /** Call when a session has answered a request: the next loss is not the same one. */
  noteProven(): void;
}

/** More than a server loses that is restarted by hand, and few enough that nothing suffers. */
const mostInWindow = 10;
const windowMs = 60_000;
/** After a session that was lost unused; grows fourfold with each one more, up to the window. */
const firstDelayMs = 1_000;

/** No session was lost yet. `nowMs` is monotonic. */
export function createRenewalBudget(nowMs: () => number = () => performance.now()): RenewalBudget {
  let takenMs: number[] = [];
  let unproven = 0;
  let notBeforeMs = 0;
  return {
    take() {
      const now = nowMs();
      takenMs = takenMs.filter((atMs) => now - atMs < windowMs);
      if (takenMs.length >= mostInWindow) return "exhausted";
      if (now < notBeforeMs) return "later";
      takenMs.push(now);
      notBeforeMs = now + Math.min(firstDelayMs * 4 ** unproven, windowMs);
      unproven += 1;
      return "now";
    },
    noteProven() {
      unproven = 0;
      notBeforeMs = 0;
    },
  };
}
