import { grown } from "../language/stem-table.ts";
import { startsOf } from "./merge-postings.ts";

/** Finds known stems that look like a word the index lacks. */
export interface SpellingIndex {
  /** At most `limit` terms with a Dice coefficient of `least` or more, best first. */
  similar(word: string, limit: number, least: number): readonly SimilarTerm[];
}

export interface SimilarTerm {
  readonly stem: string;
  readonly term: number;
  readonly dice: number;
}

/** Terms shorter than this have too few trigrams to tell a typo from another word. */
const shortestTerm = 4;

/** The terms of an index, by the three letters in a row that they have. */
export function createSpellingIndex(terms: ReadonlyMap<string, number>): SpellingIndex {
  const making = spellingInSteps(terms);
  for (;;) {
    const step = making.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps of a millisecond: the 23,000 terms of a hundred thousand tools take 30 the first time. */
export function* spellingInSteps(terms: ReadonlyMap<string, number>): Generator<undefined, SpellingIndex> {
  const stems = [...terms.keys()].filter((stem) => stem.length >= shortestTerm);
  const { numbers, starts, holders, sizes } = yield* holdersOf(stems);
  /** How many trigrams each term shares with the word that is looked for; all zero between two of these. */
  const shared = new Uint16Array(stems.length);
  return {
    similar(word, limit, least) {
      if (word.length < shortestTerm) return [];
      const grams = new Set(trigramsOf(word));
      const touched: number[] = [];
      for (const gram of grams) {
        const number = numbers.get(gram);
        if (number === undefined) continue;
        const end = starts[number + 1] as number;
        for (let at = starts[number] as number; at < end; at += 1) {
          const place = holders[at] as number;
          if (shared[place] === 0) touched.push(place);
          shared[place] = (shared[place] as number) + 1;
        }
      }
      const found: SimilarTerm[] = [];
      for (const place of touched) {
        const dice = (2 * (shared[place] as number)) / (grams.size + (sizes[place] as number));
        shared[place] = 0;
        if (dice < least) continue;
        const stem = stems[place] as string;
        found.push({ stem, term: terms.get(stem) as number, dice });
      }
      return found.sort((a, b) => b.dice - a.dice || a.term - b.term).slice(0, limit);
    },
  };
}

interface TrigramHolders {
  /** Trigrams by what they are read as. */
  readonly numbers: ReadonlyMap<number, number>;
  /** Who has trigram n: places of stems from `starts[n]` to `starts[n + 1]`. */
  readonly starts: Uint32Array;
  readonly holders: Uint32Array;
  /** Different trigrams of each stem. */
  readonly sizes: Uint16Array;
}

/** Terms whose trigrams are looked at in one step. */
const stemsInStep = 500;

function* holdersOf(stems: readonly string[]): Generator<undefined, TrigramHolders> {
  const numbers = new Map<number, number>();
  const sizes = new Uint16Array(stems.length);
  /** The trigrams of one stem after the other, each once. */
  let all = new Int32Array(1_024);
  let count = 0;
  let counts = new Int32Array(1_024);
  /** By trigram: the stem that had it last, from 1 on. */
  let lastOf = new Int32Array(1_024);
  for (const [place, stem] of stems.entries()) {
    if (place % stemsInStep === 0) yield;
    const first = count;
    for (const gram of trigramsOf(stem)) {
      let number = numbers.get(gram);
      if (number === undefined) {
        numbers.set(gram, (number = numbers.size));
        if (number === counts.length) [counts, lastOf] = [grown(counts), grown(lastOf)];
      }
      if (lastOf[number] === place + 1) continue;
      lastOf[number] = place + 1;
      counts[number] = (counts[number] as number) + 1;
      if (count === all.length) all = grown(all);
      all[count] = number;
      count += 1;
    }
    sizes[place] = count - first;
  }
  yield;
  const starts = startsOf(new Uint32Array(counts.subarray(0, numbers.size)));
  const next = starts.slice();
  const holders = new Uint32Array(count);
  let at = 0;
  for (let place = 0; place < stems.length; place += 1) {
    const end = at + (sizes[place] as number);
    for (; at < end; at += 1) {
      const number = all[at] as number;
      const to = next[number] as number;
      next[number] = to + 1;
      holders[to] = place;
    }
  }
  return { numbers, starts, holders, sizes };
}

/** The marks before the first letter of a word, and behind its last one. */
const [before, behind] = ["^", "$"].map((mark) => mark.charCodeAt(0)) as [number, number];

/** The trigrams of a word in order, repeated ones too. Each is read as one number, so that no text is made of it. */
function trigramsOf(word: string): number[] {
  const grams: number[] = [];
  let first = before;
  let second = word.charCodeAt(0);
  for (let at = 1; at <= word.length; at += 1) {
    const third = at === word.length ? behind : word.charCodeAt(at);
    grams.push(
      (first | second | third) < 128
        ? (first << 14) | (second << 7) | third
        : // Larger than any of the above: no character of a word has the number 0.
          first * 2 ** 32 + second * 2 ** 16 + third,
    );
    first = second;
    second = third;
  }
  return grams;
}
