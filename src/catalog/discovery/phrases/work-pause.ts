import type { Clock } from "../../../kernel/runtime/clock.ts";

/** Wait after a failure, doubled up to the most. */
const backoffMs = Object.freeze({ first: 5_000, most: 15 * 60_000 });

/** One wait at a time of work in the background, and how long it waits after failures. */
export interface WorkPause {
  readonly isOn: boolean;
  /** Nothing when one is on already. */
  begin(forMs: number): void;
  /** Begins one after a failure and returns its length: longer with every failure until one has worked. */
  beginAfterFailure(): number;
  noteSuccess(): void;
  cancel(): void;
}

/** `resume` is called at the end of each pause that was not cancelled. */
export function createWorkPause(clock: Pick<Clock, "after">, resume: () => void): WorkPause {
  let delayMs = 0;
  let cancel: (() => void) | undefined;

  function begin(forMs: number): void {
    cancel ??= clock.after(forMs, () => {
      cancel = undefined;
      resume();
    });
  }

  return {
    get isOn() {
      return cancel !== undefined;
    },
    begin,
    beginAfterFailure() {
      delayMs = Math.min(backoffMs.most, Math.max(backoffMs.first, delayMs * 2));
      begin(delayMs);
      return delayMs;
    },
    noteSuccess: () => void (delayMs = 0),
    cancel() {
      cancel?.();
      cancel = undefined;
    },
  };
}
