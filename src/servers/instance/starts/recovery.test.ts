import { expect, test } from "vitest";
import { judgeCrash, recentCrashes, type CrashPolicy } from "./recovery.ts";

const policy: CrashPolicy = { restartDelaysMs: [1_000, 5_000, 15_000], steadyUptimeMs: 60_000, crashWindowMs: 300_000 };

test("FAULT 76: restarts after 1, 5 and 15 s; the fourth crash within five minutes is the last", () => {
  const verdicts = [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]].map((crashes) => judgeCrash(crashes, 0, policy));
  expect(verdicts).toEqual([
    { kind: "restart", afterMs: 1_000 },
    { kind: "restart", afterMs: 5_000 },
    { kind: "restart", afterMs: 15_000 },
    { kind: "give-up" },
  ]);
});

test("what ran for a minute is restarted at once, but its crash counts", () => {
  expect(judgeCrash([0], 60_000, policy)).toEqual({ kind: "restart", afterMs: 0 });
  expect(judgeCrash([0], 59_999, policy)).toEqual({ kind: "restart", afterMs: 1_000 });
  expect(judgeCrash([0, 1, 2, 3], 60_000, policy)).toEqual({ kind: "give-up" });
});

test("crashes are forgotten after five minutes", () => {
  expect(recentCrashes([0, 100_000, 299_999], 300_000, policy)).toEqual([100_000, 299_999]);
});
