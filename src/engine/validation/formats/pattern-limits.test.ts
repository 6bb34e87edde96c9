import fc from "fast-check";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { estimateProgram } from "./matcher.ts";

const atom = fc.constantFrom("a", "\\d", "[a-z]", "[^\\]x(]", "\\(", ".", "\\.", "[()]", "é");
const repetition = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{3,}", "{0,7}", "{1,4}?");

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc
    .array(
      fc
        .tuple(
          fc.oneof(
            { depthSize: "small" },
            atom,
            tie("pattern").map((inner) => `(${inner})`),
            fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
          ),
          repetition,
        )
        .map((both) => both.join("")),
      { minLength: 1, maxLength: 4 },
    )
    .map((all) => all.join("")),
}));

/** What every program has, and what the beginning and the end of a text take. */
const always = 6;

/** Undefined where RE2 refuses the pattern: repetitions inside each other may not come to more than a thousand. */
function sizeOf(given: string): number | undefined {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(given)).programSize();
  } catch {
    return undefined;
  }
}

test("no program is much larger than is estimated of its pattern, however repetitions nest", () => {
  fc.assert(
    fc.property(pattern, (given) => {
      const size = sizeOf(given);
      fc.pre(size !== undefined);
      expect([given, size <= 2 * estimateProgram(given) + always]).toEqual([given, true]);
    }),
    { numRuns: 300 },
  );
});

test("repetitions one after the other are added up, and only those inside each other multiplied", () => {
  const uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
  expect(estimateProgram(uuid)).toBeLessThan(600);
  expect(estimateProgram("(a{100}b{100}){100}")).toBeGreaterThan(20_000);
  expect(estimateProgram("(((a{9}){9}){9}){9}")).toBeGreaterThan(9 ** 4);
  // What is not closed is no group, and must not hide what stands in it.
  expect(estimateProgram("(a{1000}")).toBeGreaterThan(1_000);
});
