import { expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { createAlarm } from "./shared-timer.ts";

test("rings for the earliest deadline, and for the next one that it is told of", async () => {
  const rung: number[] = [];
  const startMs = performance.now();
  const alarm = createAlarm((nowMs) => (rung.push(nowMs) === 1 ? nowMs + 20 : Number.POSITIVE_INFINITY));
  alarm.setFor(startMs + 600_000, startMs);
  alarm.setFor(startMs + 20, startMs);
  await until(() => rung.length === 2);
  expect(rung[1]).toBeGreaterThan(rung[0] as number);
});

test("a deadline further away than a timer reaches does not ring at once", async () => {
  let rung = 0;
  const startMs = performance.now();
  const far = createAlarm(() => ((rung += 1), Number.POSITIVE_INFINITY));
  let isNearOver = false;
  const near = createAlarm(() => ((isNearOver = true), Number.POSITIVE_INFINITY));
  far.setFor(startMs + 2 ** 40, startMs);
  near.setFor(startMs + 50, startMs);
  await until(() => isNearOver);
  expect(rung).toBe(0);
  far.clear();
});
