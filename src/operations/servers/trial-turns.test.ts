import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { createTrialTurns } from "./trial-turns.ts";

const refused = expect.objectContaining({ code: "RATE_LIMITED" }) as Error;

test("three of a team are tried at once, and the next when one of them has ended", () => {
  const turns = createTrialTurns(createManualClock());
  const running = [turns.take("red"), turns.take("red"), turns.take("red")];
  expect(() => turns.take("red")).toThrow(refused);
  turns.take("blue")[Symbol.dispose]();
  running[0]?.[Symbol.dispose]();
  turns.take("red")[Symbol.dispose]();
});

test("thirty of a team are tried in a minute, also one after the other, and those that are refused do not count", async () => {
  const clock = createManualClock();
  const turns = createTrialTurns(clock);
  for (let count = 0; count < 30; count += 1) turns.take("red")[Symbol.dispose]();
  for (let count = 0; count < 30; count += 1) expect(() => turns.take("red")).toThrow(refused);
  turns.take("blue")[Symbol.dispose]();
  await clock.advance(60_000);
  turns.take("red")[Symbol.dispose]();
});
