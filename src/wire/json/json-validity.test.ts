import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkJson } from "./json-validity.ts";
import { createTextSearch, searchedBytes } from "./text-search.ts";

const plenty = 1_000;

const search = createTextSearch();

test("long strings are searched sixteen bytes at a time here", () => {
  expect(search).toBeDefined();
});

/** Found out in both ways, with and without the search of long strings. */
function takes(bytes: Buffer): boolean {
  const [fast, slow] = [{ search }, {}].map((options) => {
    try {
      for (const _slice of checkJson(bytes, plenty, options));
      return true;
    } catch {
      return false;
    }
  });
  expect(fast).toBe(slow);
  return fast === true;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** At every place within a word of four bytes. */
function expectAsParsed(text: string): void {
  for (let shift = 0; shift < 4; shift += 1) {
    const bytes = Buffer.from(" ".repeat(shift) + text, "utf8").subarray(shift);
    expect({ text, taken: takes(bytes) }).toEqual({ text, taken: parses(text) });
  }
}

const spaces = fc.constantFrom(undefined, 1, "\t");
const long = "x".repeat(200);

describe("against JSON.parse", () => {
  test("whatever JSON.stringify writes is taken", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: "binary" }), spaces, (value, space) =>
        expectAsParsed(JSON.stringify(value, undefined, space)),
      ),
    );
  });

  test("what was broken at one place is taken only where it is still JSON", () => {
    const pieces = fc.constantFrom(
      ...'{}[],:"\\/-+.eE0123ntfu \n\t\u0001ä'.split(""),
      "",
      "\\x",
      "\\u12",
      "NaN",
      `"${long}\t"`,
      `"${long}\\"`,
    );
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        spaces,
        fc.nat(),
        fc.nat(2),
        pieces,
        (value, space, seed, cut, piece) => {
          const text = JSON.stringify({ long, value }, undefined, space);
          const at = seed % (text.length + 1);
          expectAsParsed(text.slice(0, at) + piece + text.slice(at + cut));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ...[
      "",
      " ",
      "nul",
      "nulls",
      "tru",
      "NaN",
      "Infinity",
      "01",
      "01.e",
      "1.",
      ".5",
      "-",
      "-0",
      "1e",
      "1e+",
      "1e+5",
      "+1",
      "0x1",
    ],
    ...['"', '"\\"', '"\\x"', '"\\u00g0"', '"\\u0041"', '"a\tb"', '"a\u007fb"', "'a'"],
    ...[
      "[",
      "[1,2}",
      "[1,]",
      "[,1]",
      "[1 2]",
      '{"a":1]',
      '{"a" 1}',
      "{a:1}",
      '{"a":1,}',
      '{,"a":1}',
      '{"a":,1}',
      "{} {}",
      "[]]",
    ],
    ...[
      `"${long}\\n${long}"`,
      `"${long}\\n${long}\n"`,
      `"${long}`,
      `"${long}\\"`,
      `["${long}","\\${long}"]`,
      ` "${long}"\n`,
    ],
    ...["\t", "\u0000", "\u001f", " "].flatMap((unit) =>
      [1, 2, 3, 4, 5].map((tail) => `"${long}${unit}${"y".repeat(tail)}"`),
    ),
  ])("%j", expectAsParsed);
});

test("nesting is refused beyond the limit, and costs no stack", () => {
  const check = (text: string, maxDepth: number): void => {
    for (const _slice of checkJson(Buffer.from(text), maxDepth));
  };
  check("[[[]]]", 2);
  expect(() => check("[[[1]]]", 2)).toThrow(expect.objectContaining({ code: "BODY_TOO_DEEP" }));
  const deep = 200_000;
  check("[".repeat(deep) + "]".repeat(deep), deep);
});

test("strings full of escapes take linear time: else this would not end", () => {
  expect(takes(Buffer.from(`["${`${long}\\n`.repeat(50_000)}"]`))).toBe(true);
});

const half = 524_288;

test("others have their turn now and then, whatever it holds", () => {
  for (const text of [`"${"x".repeat(10 * half)}"`, `[${"1,".repeat(5 * half)}1]`, `"${"ü".repeat(5 * half)}"`])
    for (const options of [{ search }, {}])
      expect([...checkJson(Buffer.from(text), plenty, options)].length).toBeGreaterThanOrEqual(4);
});

test.each(["", '"', "\t", "\\n", "\\", "\\u12", "ü", '","'])("where one look ends and the next begins: %j", (piece) => {
  for (const looks of [1, 2, 3, 4])
    for (let offset = -5; offset <= 5; offset += 1) {
      const text = `["${"x".repeat(looks * half + offset)}${piece}${"y".repeat((6 - looks) * half)}"]`;
      expect([piece, looks, offset, takes(Buffer.from(text))]).toEqual([piece, looks, offset, parses(text)]);
    }
});

/** Text with and without escapes, in lengths around those of the blocks that are looked over in different ways. */
const dense = 'say \\"yes\\"\\n';
const sparse = "and so on, without end";
const rare = `${sparse.repeat(30)}\\n`;

test.each([
  ["dense, then without any", dense, sparse],
  ["without any, then dense", sparse, dense],
  ["rare, then dense", rare, dense],
  ["dense, then rare", dense, rare],
])("what is no JSON is seen wherever it stands: %s", (_what, first, second) => {
  const head = first.repeat(Math.ceil((1.2 * half) / first.length));
  const tail = second.repeat(Math.ceil((1.2 * half) / second.length));
  const whole = `["${head}${tail}"]`;
  expect(takes(Buffer.from(whole))).toBe(true);
  for (const piece of ["\n", "\t", "\\x", '"', "\u0000"])
    for (const at of [3, 100, 4_090, 4_100, half - 1, half + 4_097, head.length + 2, head.length + 5_000]) {
      // Not between a backslash and what it escapes.
      const place = whole[at - 1] === "\\" ? at + 1 : at;
      const broken = whole.slice(0, place) + piece + whole.slice(place);
      expect([piece, at, takes(Buffer.from(broken))]).toEqual([piece, at, parses(broken)]);
    }
});

test.each(["", '"', "\t", "\\n", "\\", "\\u12", "\\u1234", "\\\\", "ü"])(
  "where one load of the search ends and the next begins: %j",
  (piece) => {
    for (let offset = -9; offset <= 9; offset += 1) {
      const text = `["${"x".repeat(64 + searchedBytes + offset)}${piece}${"y".repeat(searchedBytes)}"]`;
      expect([piece, offset, takes(Buffer.from(text))]).toEqual([piece, offset, parses(text)]);
    }
  },
);

test("two values that are checked in turns do not see each other's bytes", () => {
  const good = Buffer.from(`["${`${long}\\n`.repeat(20_000)}"]`);
  const bad = Buffer.from(`["${`${long}\\n`.repeat(19_999)}${long}\n"]`);
  const [first, second] = [checkJson(good, plenty, { search }), checkJson(bad, plenty, { search })];
  while (first.next().done !== true) second.next();
  expect(() => {
    while (second.next().done !== true);
  }).toThrow(expect.objectContaining({ code: "PARSE_ERROR" }));
});
