import fc from "fast-check";
import { expect, test } from "vitest";
import { createPastQueries, type PastQueries, type PastQuery } from "./past-queries.ts";

const stem = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const stems = fc.uniqueArray(stem, { minLength: 1, maxLength: 5 });
/** What queries led to. */
const places = ["one", "two", "three"].map((name) => ({ name }));
/** Six catalogs in which the same words are rare to different degrees: more than lengths are remembered in. */
const rarities = [1, 2, 3, 4, 5, 6].map((catalog) => (of: string) => 0.1 + ((of.charCodeAt(0) * 7 * catalog) % 11) / 5);

const step = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), said: stems, place: fc.constantFrom(...places) }),
  fc.nat(30).map((at) => ({ kind: "remove" as const, at })),
  fc.record({
    kind: fc.constant("ask" as const),
    said: stems,
    catalog: fc.nat(5),
    least: fc.constantFrom(0, 0.3, 0.7),
  }),
);

/** Counted anew from all queries: what each word says for the place, as in a naive Bayes classifier. */
function weighed(kept: readonly PastQuery[], asked: readonly string[], place: object): number {
  const own = kept.filter((query) => query.place === place);
  let odds = 1;
  for (const word of asked) {
    const having = (list: readonly PastQuery[]): number => list.filter(({ stems: said }) => said.includes(word)).length;
    const share = (having(kept) + 0.5) / (kept.length + 1);
    odds *= Math.max(1, (having(own) + 20 * share) / (own.length + 20) / share);
  }
  return odds - 1;
}

/** How many places the words speak for. `hidden` is one whose queries nobody may see the effect of. */
function expectLeanings(
  past: PastQueries<PastQuery>,
  kept: readonly PastQuery[],
  asked: readonly string[],
  hidden: object | undefined,
): number {
  const visible = kept.filter(({ place }) => place !== hidden);
  const least = asked.length / 100;
  const all = past.leaning(asked, { all: visible.length, least, isWanted: (place) => place !== hidden });
  const odds = new Map(all.map((leaning) => [leaning.place, leaning.odds]));
  for (const place of places) {
    const expected = place === hidden ? 0 : weighed(visible, asked, place);
    if (expected > least + 1e-9) expect(odds.get(place)).toBeCloseTo(expected, 9);
    else if (expected < least - 1e-9) expect(odds.has(place)).toBe(false);
  }
  return all.length;
}

/** Without an index, and nothing remembered. */
function compared(query: PastQuery, asked: readonly string[], rarityOf: (of: string) => number): number {
  const square = (list: readonly string[]): number => list.reduce((sum, one) => sum + rarityOf(one) ** 2, 0);
  const common = square(asked.filter((one) => query.stems.includes(one)));
  return common / Math.sqrt(square(asked) * square(query.stems));
}

test("whatever was added and taken away before, queries are as alike as when they are compared one by one", () => {
  let found = 0;
  let leant = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
      const past = createPastQueries<PastQuery>();
      const kept: PastQuery[] = [];
      for (const one of steps) {
        if (one.kind === "add") {
          const query = { stems: one.said, place: one.place };
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
          leant += expectLeanings(past, kept, one.said, places[one.catalog % 4]);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(found).toBeGreaterThan(1_000);
  expect(leant).toBeGreaterThan(1_000);
});
