import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { faultNumbers, faultsPage, heldFaults } from "../../scripts/docs/faults-page.mjs";
import { groupTitles, testTitles } from "../../scripts/docs/test-titles.mjs";
import { faultGroups } from "../faults/faults.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const titles = [...testTitles(root), ...groupTitles(root)];
const held = heldFaults(faultGroups, titles);
const faults = held.flatMap((group) => group.faults);

test("docs/faults.md is what scripts/write-docs.mjs makes of the table and the titles", () => {
  expect(readFileSync(join(root, "docs/faults.md"), "utf8")).toBe(faultsPage(held));
});

test("every title that names a fault names one that exists", () => {
  const known = new Set(faults.map(({ number }) => number));
  const wrong = titles.filter(({ title }) => faultNumbers(title)?.every((number) => known.has(number)) !== true);
  expect(wrong).toEqual([]);
});

test("every fault has a test, or a mark that says why it has none, and not both", () => {
  expect(faults.filter((fault) => fault.held.length > 0 === isMarked(fault)).map(({ number }) => number)).toEqual([]);
  expect(faults.flatMap(({ number, gone }) => gone.map((title) => `${number}: ${title}`))).toEqual([]);
});

test("faults are numbered once each, without gaps", () => {
  const numbers = faults.map(({ number }) => number);
  expect(numbers).toEqual([
    ...Array.from({ length: 110 }, (_, index) => String(index + 1)),
    "J",
    "K",
    "L",
    "M",
    "N",
    "O",
  ]);
});

describe("a title", () => {
  test.each([
    ["FAULT 4: a batch", ["4"]],
    ["FAULT 10, FAULT 11: both", ["10", "11"]],
    ["FAULT 21, 33, 34: three", ["21", "33", "34"]],
    ["FAULTS 67 and 68: two", ["67", "68"]],
    ["FAULT J: a letter", ["J"]],
    ["nothing of the kind", []],
    ["FAULTY: no number", []],
    ["FAULT 4 without a colon", undefined],
    ["FAULT: without a number", undefined],
  ])("%j names %j", (title, numbers) => {
    expect(faultNumbers(title)).toEqual(numbers);
  });
});

test("a fault that no test names, and a number that no fault has, are found", () => {
  const row = { number: "1", what: "It fails.", gets: "An error." };
  const group = { letter: "A", title: "Some", faults: [row] };
  const [told] = heldFaults([group], [{ file: "a.test.ts", title: "FAULT 2: another" }]);
  expect(told?.faults[0]).toMatchObject({ held: [], gone: [] });
  const [lost] = heldFaults([{ ...group, faults: [{ ...row, tests: ["by another name"] }] }], []);
  expect(lost?.faults[0]?.gone).toEqual(["by another name"]);
});

function isMarked({ notBuilt, untested }: (typeof faults)[number]): boolean {
  return notBuilt !== undefined || untested !== undefined;
}
