import { expect, test } from "vitest";
import { afterBreak, splitTyped } from "./completion-choices.ts";

test.each([
  ["toolyard ", ["toolyard"], ""],
  ["toolyard ca", ["toolyard"], "ca"],
  ["toolyard call one:ec", ["toolyard", "call"], "one:ec"],
  ["toolyard call 'a b' \"c\\\"d", ["toolyard", "call", "a b"], 'c"d'],
  ["toolyard call a\\ b '' ", ["toolyard", "call", "a b", ""], ""],
  ["toolyard call $(touch x) `y", ["toolyard", "call", "$(touch", "x)"], "`y"],
  ["\\", [], "\\"],
])("%j is split as a shell does, with nothing expanded", (line, before, current) => {
  expect(splitTyped(line)).toEqual({ before, current });
});

test("what a shell replaces begins after the last character that it splits at", () => {
  expect(afterBreak("one:two:three", "=:")).toBe(8);
  expect(afterBreak("one:two", "=")).toBe(0);
  expect(afterBreak("", ":")).toBe(0);
});
