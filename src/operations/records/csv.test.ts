import { describe, expect, test } from "vitest";
import { toCsv } from "./csv.ts";

test("rows end as RFC 4180 says, and no rows are no text", () => {
  expect(
    toCsv([
      ["a", "b"],
      ["c", 1],
    ]),
  ).toBe("a,b\r\nc,1\r\n");
  expect(toCsv([])).toBe("");
});

test.each([
  ["a comma", "a,b", '"a,b"'],
  ["a quote", 'say "hi"', '"say ""hi"""'],
  ["a line feed", "a\nb", '"a\nb"'],
  ["a carriage return", "a\rb", '"a\rb"'],
  ["nothing of these", "a;b 'c'", "a;b 'c'"],
  ["nothing", "", ""],
])("a cell with %s is quoted where it has to be", (_what, cell, text) => {
  expect(toCsv([[cell, "end"]])).toBe(`${text},end\r\n`);
});

describe("a spreadsheet takes nothing for a formula", () => {
  test.each([
    ["=HYPERLINK(1)", "'=HYPERLINK(1)"],
    ["+1", "'+1"],
    ["-1+2", "'-1+2"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t=1"],
    ['=A1,"x"', `"'=A1,""x"""`],
    ["a=1", "a=1"],
  ])("%j", (cell, text) => expect(toCsv([[cell]])).toBe(`${text}\r\n`));

  test("but a negative number stays one", () => expect(toCsv([[-5]])).toBe("-5\r\n"));
});
