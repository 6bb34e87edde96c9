import fc from "fast-check";
import { expect, test } from "vitest";
import { createPastQueries, type PastQuery } from "./past-queries.ts";

const stem = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const stems = fc.uniqueArray(stem, { minLength: 1, maxLength: 5 });
/** Six catalogs in which the same words are rare to different degrees: more than lengths are remembered in. */
const rarities = [1, 2, 3, 4, 5, 6].map((catalog) => (of: string) => 0.1 + ((of.charCodeAt(0) * 7 * catalog) % 11) / 5);

const step = fc.oneof(
  stems.map((said) => ({ kind: "add" as const, said })),
  fc.nat(30).map((at) => ({ kind: "remove" as const, at })),
  fc.record({
    kind: fc.constant("ask" as const),
    said: stems,
    catalog: fc.nat(5),
    least: fc.constantFrom(0, 0.3, 0.7),
  }),
);

/** Without an index, and nothing remembered. */
function compared(query: PastQuery, asked: readonly string[], rarityOf: (of: string) => number): number {
  const square = (list: readonly string[]): number => list.reduce((sum, one) => sum + rarityOf(one) ** 2, 0);
  const common = square(asked.filter((one) => query.stems.includes(one)));
  return common / Math.sqrt(square(asked) * square(query.stems));
}

test("whatever was added and taken away before, queries are as alike as when they are compared one by one", () => {
  let found = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
      const past = createPastQueries<PastQuery>();
      const kept: PastQuery[] = [];
      for (const one of steps) {
        if (one.kind === "add") {
          const query = { stems: one.said };
          kept.push(query);
          past.add(query);
        } else if (one.kind === "remove") {
          for (const query of kept.splice(one.at, 1)) past.remove(query);
        } else {
          const rarityOf = rarities[one.catalog] as (of: string) => number;
          const all = past.like(one.said, { least: one.least, rarityOf, isWanted: () => true });
          const likeness = new Map(all.map(({ query, similarity }) => [query, similarity]));
          found += all.length;
          for (const query of kept) {
            const expected = compared(query, one.said, rarityOf);
            if (expected > one.least + 1e-9) expect(likeness.get(query)).toBeCloseTo(expected, 9);
            else if (expected < one.least - 1e-9) expect(likeness.has(query)).toBe(false);
          }
          expect([...likeness.keys()].every((query) => kept.includes(query))).toBe(true);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(found).toBeGreaterThan(1_000);
});
