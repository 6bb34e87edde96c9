import type { CrashVerdict } from "./state.ts";

/** DESIGN.md section 7: how a crash is answered. */
const steadyUptimeMs = 60_000;
const delaysMs = [1_000, 5_000, 15_000] as const;
const windowMs = 300_000;

/** The crashes that still count: those of the last five minutes. */
export function recentCrashes(crashesMs: readonly number[], nowMs: number): readonly number[] {
  return crashesMs.filter((atMs) => nowMs - atMs < windowMs);
}

/** What follows the newest of `crashesMs` (all within the window), after `uptimeMs` of life. */
export function judgeCrash(crashesMs: readonly number[], uptimeMs: number): CrashVerdict {
  if (crashesMs.length > delaysMs.length) return { kind: "give-up" };
  if (uptimeMs >= steadyUptimeMs) return { kind: "restart", afterMs: 0 };
  return { kind: "restart", afterMs: delaysMs[Math.max(0, crashesMs.length - 1)] ?? delaysMs[0] };
}
