import { array, assert, constantFrom, integer, oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { bestOf, byScore, firstOf } from "./top-k.ts";

test("the best are those that sorting all would give, with any number of equals, zeros and filters", () => {
  const score = oneof(constantFrom(0, 1, 2, 0.5), integer({ min: 0, max: 1_000 }));
  const filter = constantFrom(undefined, (tool: number) => tool % 3 !== 0);
  assert(
    property(array(score, { maxLength: 300 }), integer({ min: 1, max: 60 }), filter, (given, limit, isWanted) => {
      const expected = given
        .map((value, tool) => ({ tool, score: value }))
        .filter((one) => one.score > 0 && (isWanted === undefined || isWanted(one.tool)))
        .sort(byScore)
        .slice(0, limit);
      const found = bestOf(Float64Array.from(given), limit, isWanted);
      expect(found.map(({ tool }) => tool)).toEqual(expected.map(({ tool }) => tool).sort((a, b) => a - b));
      expect([...found].sort(byScore)).toEqual(expected);
    }),
    { numRuns: 1_000 },
  );
});

test("scores are left as they are", () => {
  const scores = Float64Array.of(3, 1, 2, 5, 4);
  bestOf(scores, 2);
  expect([...scores]).toEqual([3, 1, 2, 5, 4]);
});

test("scores of any size and nearness are told apart", () => {
  const near = (place: number): number => 1 + place * Number.EPSILON;
  for (const given of [
    [1e300, 1e-300, 2e-300, 1],
    [near(3), near(1), near(2), near(2)],
    [5e-324, 1e-323, 5e-324, 2e-323],
  ])
    for (const limit of [1, 2, 3]) {
      const sorted = given.map((score, tool) => ({ tool, score })).sort(byScore);
      expect(bestOf(Float64Array.from(given), limit).sort(byScore)).toEqual(sorted.slice(0, limit));
    }
});

test("the first of some are those that sorting them would put first, in that order", () => {
  const score = oneof(constantFrom(0, 1, 2, 0.5), integer({ min: 0, max: 1_000 }));
  assert(
    property(array(score, { maxLength: 200 }), integer({ min: 1, max: 60 }), (given, limit) => {
      // Learned tools stand behind the others, whatever their numbers.
      const candidates = given.map((value, at) => ({ tool: (at * 37) % 211, score: value }));
      const before = structuredClone(candidates);
      expect(firstOf(candidates, limit)).toEqual([...candidates].sort(byScore).slice(0, limit));
      expect(candidates).toEqual(before);
    }),
    { numRuns: 1_000 },
  );
});
