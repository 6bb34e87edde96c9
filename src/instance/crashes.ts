import type { CrashVerdict } from "./state.ts";

/** How crashes are answered; the defaults are DESIGN.md section 7's. */
export interface CrashPolicy {
  /** Waits before the restarts after the first, second, ... crash; one more crash than that within the window, and it is given up. */
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
