import type { CrashVerdict } from "../state.ts";

/** What happens after crashes (docs/design.md, "Crashes"). */
export interface CrashPolicy {
  /**
   * Delays before the restarts after the first, second, ... crash. With one more crash than that within the window,
   * the server is given up.
   */
  readonly restartDelaysMs: readonly number[];
  /** A server that was up for this long is restarted without delay. */
  readonly steadyUptimeMs: number;
  readonly crashWindowMs: number;
}

/** The crashes within the window. */
export function recentCrashes(crashesMs: readonly number[], nowMs: number, policy: CrashPolicy): readonly number[] {
  return crashesMs.filter((atMs) => nowMs - atMs < policy.crashWindowMs);
}

/** What to do after the newest of `crashesMs` (all within the window), when the server was up for `uptimeMs`. */
export function judgeCrash(crashesMs: readonly number[], uptimeMs: number, policy: CrashPolicy): CrashVerdict {
  const delayMs = policy.restartDelaysMs[Math.max(0, crashesMs.length - 1)];
  if (delayMs === undefined) return { kind: "give-up" };
  return { kind: "restart", afterMs: uptimeMs >= policy.steadyUptimeMs ? 0 : delayMs };
}

/** Counts the crashes of one instance. */
export interface CrashCount {
  /** Notes a crash and decides what to do. */
  judge(nowMs: number, uptimeMs: number): CrashVerdict;
  /** The number of crashes within the window. */
  readonly count: number;
  /** True while a server that had been given up is tried once more: a single crash then gives it up again. */
  isLastTry: boolean;
  /** Forgets all crashes. */
  forget(): void;
}

/** No crashes yet. `policy` is asked at every crash, because the configuration may change. */
export function createCrashCount(policy: () => CrashPolicy): CrashCount {
  let crashesMs: readonly number[] = [];
  const crashes: CrashCount = {
    isLastTry: false,
    judge(nowMs, uptimeMs) {
      const current = policy();
      crashesMs = [...recentCrashes(crashesMs, nowMs, current), nowMs];
      return crashes.isLastTry ? { kind: "give-up" } : judgeCrash(crashesMs, uptimeMs, current);
    },
    get count() {
      return crashesMs.length;
    },
    forget() {
      crashesMs = [];
    },
  };
  return crashes;
}
