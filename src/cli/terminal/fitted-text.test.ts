import { describe, expect, test } from "vitest";
import { clipText, columnsOf, printText, wrapText } from "./fitted-text.ts";

describe("lines are broken", () => {
  test.each([
    ["one two three", 8, "", ["one two", "three"]],
    ["one two three", 13, "", ["one two three"]],
    ["  one two three", 9, "    ", ["  one two", "    three"]],
    ["a  b   c", 5, "", ["a  b", "c"]],
    ["/home/me/folder/file.json", 12, "", ["/home/me/", "folder/", "file.json"]],
    ["abcdefghijkl", 5, "", ["abcde", "fghij", "kl"]],
    ["see /home/me/folder", 12, "  ", ["see", "  /home/me/", "  folder"]],
    ["", 5, "", [""]],
  ] as const)("%j in %i columns", (text, columns, hanging, lines) =>
    expect(wrapText(text, columns, hanging)).toEqual(lines),
  );
});

test.each([
  ["one two three", 8, "one two…"],
  ["one two three", 9, "one two…"],
  ["one", 3, "one"],
  ["abcdefgh", 4, "abc…"],
  ["{ q: string; order?: number }", 14, "{ q: string;…"],
])("%j is cut to %i columns between words", (text, columns, cut) => expect(clipText(text, columns)).toBe(cut));

test("without a terminal there is no end to a line", () => {
  const written: string[] = [];
  const write = (text: string): number => written.push(text);
  printText({ write }, "word ".repeat(50).trim());
  printText({ write, isTTY: true, columns: 14 }, "  one two three\nfour");
  expect(written).toEqual([`${"word ".repeat(50).trim()}\n`, "  one two\n    three\nfour\n"]);
  expect(columnsOf({ isTTY: true })).toBe(80);
  expect(columnsOf({})).toBe(Number.POSITIVE_INFINITY);
});
