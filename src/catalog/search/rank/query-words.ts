import type { Language } from "../language.ts";
import { joinNeighbours, toProseWords } from "../language/words.ts";

/** How a query wrote the words whose stems it was searched by. */
export interface QueryWords {
  /** Two neighbours with a space between them where they were read as one word. */
  of(stem: string): string;
}

/** Reads a query as the ranker does, with and without its stopwords. The first word of a stem is kept. */
export function queryWords(language: Language, query: string): QueryWords {
  const all = toProseWords(query);
  const written = new Map<string, string>();
  const note = (stem: string, word: string): void => {
    if (!written.has(stem)) written.set(stem, word);
  };
  for (const words of [all.filter((word) => !language.isStopword(word)), all]) {
    for (const word of words) note(language.stem(word), word);
    for (const [at, joined] of joinNeighbours(words).entries())
      note(language.stem(joined), `${words[at]} ${words[at + 1]}`);
  }
  return { of: (stem) => written.get(stem) ?? stem };
}
