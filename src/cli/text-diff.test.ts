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
