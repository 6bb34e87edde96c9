import type { Clock } from "../../kernel/clock.ts";

/** Counts reach the disk this much later, all together. */
const saveDelayMs = 10_000;

/** Saves what was counted: some time after it was, and whatever is left at the end. */
export function createLateSave(clock: Clock, run: () => void): { soon(): void; now(): void } {
  let cancel: (() => void) | undefined;
  const save = (): void => {
    cancel = undefined;
    run();
  };
  return {
    soon() {
      cancel ??= clock.after(saveDelayMs, save);
    },
    now() {
      if (cancel === undefined) return;
      cancel();
      save();
    },
  };
}
