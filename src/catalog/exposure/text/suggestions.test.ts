import fc from "fast-check";
import { expect, test } from "vitest";
import { nearestNames } from "./suggestions.ts";

/** What the names of two are like, said as plainly as can be. */
function likeness(one: string, other: string): number {
  const [left, right] = [one, other].map((name) => {
    const letters = name
      .slice(0, 80)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ");
    return new Set(Array.from({ length: Math.max(0, letters.length - 1) }, (_, at) => letters.slice(at, at + 2)));
  }) as [Set<string>, Set<string>];
  return (2 * [...left].filter((pair) => right.has(pair)).length) / (left.size + right.size || 1);
}

const part = fc.constantFrom(
  "github",
  "create",
  "Issue",
  "issues",
  "get",
  "größe",
  "日本",
  "K",
  "İ",
  "7",
  "",
  "\u0000",
);
const separator = fc.constantFrom(":", "-", "_", "__", ".", " ", "", "—");
const name = fc
  .array(fc.tuple(part, separator), { minLength: 1, maxLength: 30 })
  .map((parts) => parts.map((each) => each.join("")).join(""));

test("names are those that have most pairs of letters in common, each pair once", () => {
  fc.assert(
    fc.property(name, fc.array(name, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (wanted, names, limit) => {
      const found = nearestNames(wanted, names, limit);
      if (likeness(wanted, wanted) === 0) {
        expect(found).toEqual(names.slice(0, limit));
        return;
      }
      const expected = names
        .map((each) => ({ each, share: likeness(wanted, each) }))
        .filter(({ share }) => share > 0.2)
        .sort((left, right) => right.share - left.share || (left.each < right.each ? -1 : 1))
        .slice(0, limit);
      expect(found).toEqual(expected.map(({ each }) => each));
    }),
    { numRuns: 2_000 },
  );
});

test("a name that was nearly right is found among many", () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `server-${at % 50}:tool_${at}`);
  names.splice(2_500, 0, "github:create_issue");
  expect(nearestNames("github-createIssues", names, 1)).toEqual(["github:create_issue"]);
});
