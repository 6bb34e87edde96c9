import fc from "fast-check";
import { expect, test } from "vitest";
import { createSpellingIndex, spellingInSteps, type SimilarTerm } from "./trigrams.ts";

/** Three letters in a row, as texts. */
function gramsOf(word: string): Set<string> {
  const padded = `^${word}$`;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
}

/** What the index promises, by comparing the word with every term. */
function similarByDefinition(
  terms: ReadonlyMap<string, number>,
  word: string,
  limit: number,
  least: number,
): SimilarTerm[] {
  if (word.length < 4) return [];
  const own = gramsOf(word);
  return [...terms]
    .filter(([stem]) => stem.length >= 4)
    .map(([stem, term]) => {
      const grams = gramsOf(stem);
      const shared = [...own].filter((gram) => grams.has(gram)).length;
      return { stem, term, dice: (2 * shared) / (own.size + grams.size) };
    })
    .filter(({ dice }) => dice > 0 && dice >= least)
    .sort((a, b) => b.dice - a.dice || a.term - b.term)
    .slice(0, limit);
}

function numbered(stems: readonly string[]): Map<string, number> {
  return new Map([...new Set(stems)].map((stem, number) => [stem, number]));
}

/** Few letters, so that words are alike, and some of every kind that a word may have. */
const letter = fc.constantFrom("a", "b", "c", "^", "$", "0", "é", "ж", "日", "本", "\u{1F600}", "\u007f", "\u0080");
const anyWord = fc.string({ unit: letter, minLength: 1, maxLength: 9 });

test("similar terms are those that share trigrams by the definition, whatever letters they have", () => {
  fc.assert(
    fc.property(fc.array(anyWord, { maxLength: 60 }), fc.array(anyWord, { maxLength: 8 }), (stems, words) => {
      const terms = numbered(stems);
      const index = createSpellingIndex(terms);
      // One after the other: what the last look-up counted must not be in the next.
      for (const word of [...words, ...stems.slice(0, 4)])
        expect(index.similar(word, 5, 0.2)).toEqual(similarByDefinition(terms, word, 5, 0.2));
    }),
    { numRuns: 300 },
  );
});

test("an index of many terms is made in many steps, and is the same", () => {
  const terms = numbered(
    Array.from({ length: 6_000 }, (_, at) => `word${at.toString(36)}${(at * 7_919).toString(36)}`),
  );
  const making = spellingInSteps(terms);
  let steps = 0;
  let step = making.next();
  while (step.done !== true) {
    steps += 1;
    step = making.next();
  }
  expect(steps).toBeGreaterThanOrEqual(12);
  for (const word of ["wordab", "wordzz1", "wrd1a2b", "word4", "nothing"])
    expect(step.value.similar(word, 4, 0.4)).toEqual(similarByDefinition(terms, word, 4, 0.4));
});
