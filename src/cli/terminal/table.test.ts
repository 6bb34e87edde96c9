import { expect, test } from "vitest";
import { toTable } from "./table.ts";

const columns = [{ heading: "server" }, { heading: "calls", align: "right" }, { heading: "what" }] as const;

test("a column is as wide as its widest cell or heading, and numbers stand at its right", () => {
  const rows = [
    ["a", "7", "first"],
    ["longer-than-that", "123456", "x"],
  ];
  expect(toTable(columns, rows)).toEqual([
    "server             calls  what",
    "a                      7  first",
    "longer-than-that  123456  x",
  ]);
});

test("no line ends in spaces, and a cell that is missing is empty", () => {
  expect(toTable(columns, [["a"], ["b", "1", ""]])).toEqual(["server  calls  what", "a", "b           1"]);
});

test("without rows the heading stands alone", () => {
  expect(toTable(columns, [])).toEqual(["server  calls  what"]);
});
