import type { CrashVerdict } from "./state.ts";

/** How crashes are answered (docs/design.md, "Crashes"). */
export interface CrashPolicy {
  /**
   * Waits before the restarts after the first, second, ... crash; one more crash than that within the window, and it
   * is given up.
   */
  readonly restartDelaysMs: readonly number[];
  /** After this much uptime it is restarted at once. */
  readonly steadyUptimeMs: number;
  readonly crashWindowMs: number;
}

/** The crashes that still count. */
export function recentCrashes(crashesMs: readonly number[], nowMs: number, policy: CrashPolicy): readonly number[] {
  return crashesMs.filter((atMs) => nowMs - atMs < policy.crashWindowMs);
}

/** What follows the newest of `crashesMs` (all within the window), after `uptimeMs` of life. */
export function judgeCrash(crashesMs: readonly number[], uptimeMs: number, policy: CrashPolicy): CrashVerdict {
  const delayMs = policy.restartDelaysMs[Math.max(0, crashesMs.length - 1)];
  if (delayMs === undefined) return { kind: "give-up" };
  return { kind: "restart", afterMs: uptimeMs >= policy.steadyUptimeMs ? 0 : delayMs };
}

/** The crashes of one instance. */
export interface CrashCount {
  /** Notes one more, and says what follows from it. */
  judge(nowMs: number, uptimeMs: number): CrashVerdict;
  /** Those that still count. */
  readonly count: number;
  /** Given up once and tried again by a call: one more crash is enough. */
  isLastTry: boolean;
  forget(): void;
}

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
