import { expect, test } from "vitest";
import { clampedNumber, flag } from "./schemas.ts";

const limit = clampedNumber({ least: 1, most: 1_000, standard: 100 });

test.each([
  [undefined, 100],
  ["", 100],
  ["  ", 100],
  ["many", 100],
  ["NaN", 100],
  ["0", 1],
  ["-7", 1],
  ["1", 1],
  ["12.9", 12],
  ["1000", 1_000],
  ["1001", 1_000],
  ["Infinity", 1_000],
  ["-Infinity", 1],
])("a limit of %j is taken for %d", (text, number) => {
  expect(limit.parse(text)).toBe(number);
});

test("a flag is off unless it is true, and nothing else can be said", () => {
  expect([undefined, "false", "true"].map((text) => flag.parse(text))).toEqual([false, false, true]);
  for (const text of ["", "1", "yes", "TRUE"]) expect(flag.safeParse(text).success).toBe(false);
});
