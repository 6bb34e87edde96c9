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

export function createSpellingIndex(terms: ReadonlyMap<string, number>): SpellingIndex {
  const postings = new Map<string, string[]>();
  const sizes = new Map<string, number>();
  for (const term of terms.keys()) {
    if (term.length < shortestTerm) continue;
    const grams = trigramsOf(term);
    sizes.set(term, grams.size);
    for (const gram of grams) {
      const list = postings.get(gram);
      if (list === undefined) postings.set(gram, [term]);
      else list.push(term);
    }
  }
  return {
    similar(word, limit, least) {
      if (word.length < shortestTerm) return [];
      const grams = trigramsOf(word);
      const shared = new Map<string, number>();
      for (const gram of grams)
        for (const term of postings.get(gram) ?? []) shared.set(term, (shared.get(term) ?? 0) + 1);
      const found: SimilarTerm[] = [];
      for (const [term, count] of shared) {
        const dice = (2 * count) / (grams.size + (sizes.get(term) ?? 0));
        if (dice >= least) found.push({ stem: term, term: terms.get(term) as number, dice });
      }
      return found.sort((a, b) => b.dice - a.dice || a.term - b.term).slice(0, limit);
    },
  };
}

function trigramsOf(word: string): Set<string> {
  const padded = `^${word}$`;
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at += 1) grams.add(padded.slice(at, at + 3));
  return grams;
}
