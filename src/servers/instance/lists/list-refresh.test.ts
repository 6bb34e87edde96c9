import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { createCoalescer } from "./list-refresh.ts";

test("FAULT 50: a thousand calls in a second are two runs, and the last call is never lost", async () => {
  const clock = createManualClock();
  const runsMs: number[] = [];
  const ask = createCoalescer(clock, 1_000, () => runsMs.push(clock.monotonic()));
  for (let call = 0; call < 1_000; call += 1) {
    ask();
    await clock.advance(1);
  }
  await clock.advance(10_000);
  expect(runsMs).toEqual([0, 1_000]);
  ask();
  await clock.advance(0);
  expect(runsMs).toHaveLength(3);
});
