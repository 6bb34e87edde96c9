/**
 * How much more likely the words of a query are if it is about this place: by how much its own past queries have each
 * word more often than all of them together (naive Bayes). A word that they have less often counts nothing, because
 * people leave words out.
 */
export interface Leaning<P> {
  readonly place: P;
  /** So many times as likely, less 1: 9 means ten times. More than 0. */
  readonly odds: number;
}

export interface LeaningOptions<P> {
  /** How many past queries `isWanted` holds for. */
  readonly all: number;
  /** Less than this is left out. */
  readonly least: number;
  readonly isWanted: (place: P) => boolean;
}

/** Past queries by number, and what each led to. */
export interface Leanings<P> {
  add(query: number, place: P): void;
  remove(query: number): void;
  /** `words` holds, for each word of a query, the past queries that have it. */
  of(words: readonly (readonly number[])[], options: LeaningOptions<P>): Leaning<P>[];
}

/**
 * As if each place had so many more queries, with every word as often as all queries have it: with few of its own, what
 * they say may be chance.
 */
const trust = 20;

const unknown = 0;
const wanted = 1;
const unwanted = 2;

/** By number of place. Of one search, and 0 otherwise, is all but the first two. */
interface Tally {
  /** By past query. */
  readonly placeOf: number[];
  /** Queries that led there. */
  counts: Uint32Array;
  /** Whether its queries are wanted: `unknown` until somebody looks. */
  states: Uint8Array;
  /** How many of its queries have the word that is looked at, */
  times: Uint32Array;
  /** and what all words looked at so far say for it. */
  sums: Float64Array;
  /** Places whose queries have the word, and those looked at for any word, from the start. */
  having: Uint32Array;
  seen: Uint32Array;
}

function makeRoom(tally: Tally, places: number): void {
  if (places <= tally.counts.length) return;
  const size = Math.max(256, 2 * tally.counts.length);
  const counts = new Uint32Array(size);
  counts.set(tally.counts);
  tally.counts = counts;
  tally.states = new Uint8Array(size);
  tally.times = new Uint32Array(size);
  tally.sums = new Float64Array(size);
  tally.having = new Uint32Array(size);
  tally.seen = new Uint32Array(size);
}

/** Counts how often each place has the word. Returns how many have it, how many queries do, and how many are seen. */
function countWord(
  { placeOf, states, times, having, seen }: Tally,
  queries: readonly number[],
  seenBefore: number,
  isWanted: (place: number) => boolean,
): { readonly haveIt: number; readonly count: number; readonly seenNow: number } {
  let count = 0;
  let haveIt = 0;
  let seenNow = seenBefore;
  for (const query of queries) {
    const place = placeOf[query] as number;
    if (states[place] === unknown) {
      states[place] = isWanted(place) ? wanted : unwanted;
      seen[seenNow] = place;
      seenNow += 1;
    }
    if (states[place] === unwanted) continue;
    count += 1;
    const before = times[place] as number;
    times[place] = before + 1;
    if (before > 0) continue;
    having[haveIt] = place;
    haveIt += 1;
  }
  return { haveIt, count, seenNow };
}

/** Adds what a word says of each place that has it. `share` is how many of all queries do. */
function addWord({ counts, times, sums, having }: Tally, haveIt: number, share: number): void {
  for (let at = 0; at < haveIt; at += 1) {
    const place = having[at] as number;
    const own = ((times[place] as number) + trust * share) / ((counts[place] as number) + trust);
    times[place] = 0;
    if (own > share) sums[place] = (sums[place] as number) + Math.log(own / share);
  }
}

export function createLeanings<P>(): Leanings<P> {
  const numbers = new Map<P, number>();
  const places: P[] = [];
  /** Numbers of places that have no queries any more. */
  const free: number[] = [];
  const tally: Tally = {
    placeOf: [],
    counts: new Uint32Array(),
    states: new Uint8Array(),
    times: new Uint32Array(),
    sums: new Float64Array(),
    having: new Uint32Array(),
    seen: new Uint32Array(),
  };

  return {
    add(query, place) {
      let number = numbers.get(place);
      if (number === undefined) {
        number = free.pop() ?? places.length;
        places[number] = place;
        numbers.set(place, number);
        makeRoom(tally, places.length);
      }
      tally.placeOf[query] = number;
      tally.counts[number] = (tally.counts[number] as number) + 1;
    },
    remove(query) {
      const number = tally.placeOf[query] as number;
      const left = (tally.counts[number] as number) - 1;
      tally.counts[number] = left;
      if (left > 0) return;
      numbers.delete(places[number] as P);
      free.push(number);
    },
    of(words, { all, least, isWanted }) {
      const isWantedPlace = (number: number): boolean => isWanted(places[number] as P);
      let seen = 0;
      for (const queries of words) {
        const { haveIt, count, seenNow } = countWord(tally, queries, seen, isWantedPlace);
        seen = seenNow;
        // Half a query more: a word of the only query there is would otherwise be one that every query has.
        addWord(tally, haveIt, (count + 0.5) / (all + 1));
      }
      const leastSum = Math.log(least + 1);
      const found: Leaning<P>[] = [];
      for (let at = 0; at < seen; at += 1) {
        const number = tally.seen[at] as number;
        const sum = tally.sums[number] as number;
        tally.sums[number] = 0;
        tally.states[number] = unknown;
        if (sum > 0 && sum >= leastSum) found.push({ place: places[number] as P, odds: Math.exp(sum) - 1 });
      }
      return found;
    },
  };
}
