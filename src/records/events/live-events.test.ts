import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import { createEventRing } from "./live-events.ts";

const numbers = (items: readonly { readonly number: number }[] | undefined): number[] | undefined =>
  items?.map(({ number }) => number);

test("gives what came after a number, and nothing for a number that never was", () => {
  const ring = createEventRing<string>(createManualClock());
  expect(ring.after(0)).toEqual([]);
  expect(ring.after(1)).toBeUndefined();
  for (const item of ["a", "b", "c"]) ring.add(item);
  expect(ring.after(1)?.map(({ item }) => item)).toEqual(["b", "c"]);
  expect(ring.after(3)).toEqual([]);
  expect(ring.after(4)).toBeUndefined();
});

test("keeps a thousand: whoever missed more is told so", () => {
  const ring = createEventRing<number>(createManualClock());
  for (let item = 0; item < 5_000; item += 1) ring.add(item);
  expect(ring.last).toBe(5_000);
  expect(ring.after(3_999)).toBeUndefined();
  expect(numbers(ring.after(4_000))).toHaveLength(1_000);
  expect(numbers(ring.after(4_998))).toEqual([4_999, 5_000]);
});

test("keeps five minutes", async () => {
  const clock = createManualClock();
  const ring = createEventRing<string>(clock);
  ring.add("old");
  await clock.advance(200_000);
  ring.add("newer");
  await clock.advance(100_001);
  expect(ring.after(0)).toBeUndefined();
  expect(numbers(ring.after(1))).toEqual([2]);
  await clock.advance(300_000);
  expect(ring.after(1)).toBeUndefined();
  expect(ring.after(2)).toEqual([]);
});
