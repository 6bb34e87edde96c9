import type { Clock } from "../../kernel/runtime/clock.ts";

/** Counts are written this much later, all together. */
const saveDelayMs = 10_000;

/** Saves counts some time after they changed, and whatever is unsaved at the end. */
export function createDebouncedSave(clock: Clock, run: () => void): { soon(): void; now(): void } {
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
