import * as fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { toSimplePattern } from "./matcher.ts";

test("what is simple means the same to RE2, for texts of every kind", () => {
  const atom = fc.constantFrom(
    "a",
    "Z",
    "-",
    "\\.",
    "\\d",
    "[a-z]",
    "[A-Z0-9_-]",
    "[ -~]",
    "[\\w.]",
    "[+*]",
    "\\$",
    "_",
  );
  const fixed = fc.tuple(atom, fc.constantFrom("", "{2}", "{0}", "{1}")).map((parts) => parts.join(""));
  const variable = fc
    .tuple(atom, fc.constantFrom("", "+", "*", "?", "{1,3}", "{2,}", "{0,1}"))
    .map((parts) => parts.join(""));
  const list = fc.array(fixed, { maxLength: 3 }).map((parts) => parts.join(""));
  const pattern = fc.tuple(list, variable, list).map((parts) => `^${parts.join("")}$`);
  const unit = fc.constantFrom("a", "b", "Z", "-", ".", "7", "_", "+", "$", " ", "é", "😀", "\n", "\ud800", "\u2028");
  fc.assert(
    fc.property(
      pattern,
      fc.array(fc.string({ unit, maxLength: 6 }), { minLength: 10, maxLength: 10 }),
      (given, texts) => {
        const ours = toSimplePattern(given);
        const theirs = RE2JS.compile(RE2JS.translateRegExp(given));
        for (const text of texts) expect([given, text, ours?.test(text)]).toEqual([given, text, theirs.test(text)]);
      },
    ),
    { numRuns: 2_000 },
  );
});

test.each([
  "^#[0-9A-Fa-f]{6}$",
  "^[a-zA-Z0-9_-]+$",
  "^[a-z0-9][a-z0-9_-]*$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^[a-zA-Z0-9\\-_.]+$",
])("%s is simple", (pattern) => {
  expect(toSimplePattern(pattern)).toBeDefined();
});

describe("left to RE2 is", () => {
  test.each([
    ["what matches a part of a text", "[a-z]+"],
    ["what can be read in many ways", "^[a-z]*[a-z]*$"],
    ["a group", "^(a|b)$"],
    ["a repetition of a group", "^(a+)+$"],
    ["an exclusion, which depends on characters beyond ASCII", "^[^a]$"],
    ["any character", "^.$"],
    ["white space", "^\\s$"],
    ["letters beyond ASCII", "^é$"],
    ["what there is not", "^[z-a]$"],
    ["a lazy repetition", "^a+?$"],
    ["a long one", `^${"a".repeat(300)}$`],
  ])("%s", (_what, pattern) => {
    expect(toSimplePattern(pattern)).toBeUndefined();
  });
});
