import { array, assert, constantFrom, integer, oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { bestOf, byScore } from "./best-of.ts";

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
