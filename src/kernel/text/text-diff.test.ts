import { expect, test } from "vitest";
import { diffLines } from "./text-diff.ts";

const lines = (...all: string[]) => `${all.join("\n")}\n`;

test("what is added in one place is shown with two lines around it", () => {
  expect(diffLines(lines("a", "b", "c", "d", "e", "f"), lines("a", "b", "c", "new", "d", "e", "f"))).toEqual([
    " b",
    " c",
    "+new",
    " d",
    " e",
  ]);
});

test("a changed line is taken out and put in", () => {
  expect(diffLines(lines("a", "b", "c"), lines("a", "b,", "more", "c"))).toEqual([" a", "-b", "+b,", "+more", " c"]);
});

test("a new file has only new lines, and equal texts have none", () => {
  expect(diffLines("", lines("a", "b"))).toEqual(["+a", "+b"]);
  expect(diffLines(lines("a"), lines("a"))).toEqual([]);
});

test("line ends and a byte-order mark are not shown", () => {
  expect(diffLines("\uFEFFa\r\nb\r\n", "\uFEFFa\r\nnew\r\nb\r\n")).toEqual([" a", "+new", " b"]);
});

test("repeated lines are never counted twice", () => {
  expect(diffLines(lines("}", "}"), lines("}", "}", "}"))).toEqual([" }", " }", "+}"]);
});

test("changes that stand apart say where they are, the rest between them is not shown", () => {
  const many = Array.from({ length: 20 }, (_, index) => String(index));
  expect(diffLines(lines(...many), lines("new", ...many, "last"))).toEqual([
    "@@ -1,2 +1,3 @@",
    "+new",
    " 0",
    " 1",
    "@@ -19,2 +20,3 @@",
    " 18",
    " 19",
    "+last",
  ]);
});

test("a line end that is missing behind the last line is no change", () => {
  expect(diffLines("a", "a\n")).toEqual([]);
  expect(diffLines("a", "a\r\nb")).toEqual([" a", "+b"]);
});

test("places are said of a single change too where they are asked for, with as much around it as is asked for", () => {
  const change = [lines("a", "b", "c"), lines("a", "b", "x")] as const;
  expect(diffLines(...change, { around: 1, places: true })).toEqual(["@@ -2,2 +2,2 @@", " b", "-c", "+x"]);
});
