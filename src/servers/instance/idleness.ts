import type { Clock } from "../../kernel/clock.ts";

/** For how long nobody has needed an instance. */
export interface Idleness {
  noteUse(nowMs: number): void;
  /** Keeps it from being idle, for as long as something listens. Returns the release. */
  hold(): () => void;
  /** In ms. What is busy or held is in use now. */
  lastedMs(nowMs: number, isBusy: boolean): number;
}

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
