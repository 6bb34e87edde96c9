import { expect, test } from "vitest";
import { toDurationText } from "./number-text.ts";

test.each([
  [7_200_000, "2 h"],
  [7_229_000, "2 h"],
  [9_000_000, "2.5 h"],
  [210_000, "3.5 min"],
  [60_000, "1 min"],
  [59_000, "59 s"],
  [300, "0.3 s"],
  [0, "0 s"],
])("%i ms are %s", (durationMs, text) => {
  expect(toDurationText(durationMs)).toBe(text);
});
