import type { Clock } from "../../../kernel/runtime/clock.ts";

/** Measures for how long an instance has not been needed. */
export interface Idleness {
  /** Notes that the instance is used now. */
  noteUse(nowMs: number): void;
  /** Marks the instance as in use until the returned function is called. */
  hold(): () => void;
  /** For how many ms it has been idle: 0 while it is busy or held. */
  lastedMs(nowMs: number, isBusy: boolean): number;
}

/** Idle since now. */
export function createIdleness(clock: Clock): Idleness {
  let holds = 0;
  let lastUseMs = clock.monotonic();
  return {
    noteUse(nowMs) {
      lastUseMs = nowMs;
    },
    hold() {
      holds += 1;
      let held = true;
      return () => {
        if (held) holds -= 1;
        held = false;
      };
    },
    lastedMs(nowMs, isBusy) {
      if (isBusy || holds > 0) lastUseMs = nowMs;
      return nowMs - lastUseMs;
    },
  };
}
