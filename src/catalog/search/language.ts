import { stemmer } from "stemmer";

import { createPurposeReader, type PurposeReader } from "./language/verb-purpose.ts";
import { createPostings, type PostingsBuilder } from "./index/postings.ts";
import { createStemTable } from "./language/stem-table.ts";
import { createToolReader, type ReadTool } from "./language/tool-words.ts";
import { createThesaurus, type Thesaurus } from "./language/thesaurus.ts";
import { rankingWeights, type RankingWeights } from "./language/weights.ts";
import { commonWordShares, wordLists, type WordLists, wordsOf } from "./language/word-lists.ts";
import { toProseWords } from "./language/words.ts";

/** Stems of queries and phrases that are remembered, in 2 MB; those of definitions have a table of their own. */
const stemMemoLimit = 2 ** 14;

/**
 * What the search knows of words: stems, stopwords, synonyms, and how common words are. For index and query alike, so
 * that both see the same. Remembers stems: make one and share it.
 */
export interface Language {
  readonly weights: RankingWeights;
  readonly stem: (word: string) => string;
  isStopword(word: string): boolean;
  /** Whether a stem is conversational: neither empty nor likely to name a tool. */
  isFiller(stem: string): boolean;
  /** The stems of a text in order, without stopwords. */
  telling(text: string): string[];
  /** Read at the first query: an index can be built without it. */
  thesaurus(): Thesaurus;
  /** For makers of indexes, one part at a time. */
  postings(): PostingsBuilder;
  /** What a definition says, in the numbers that `postings` takes. */
  readonly readTool: ReadTool;
  readonly purposes: PurposeReader;
  /** Share of all the world's tools that mention a stem, as far as known. */
  commonness(stem: string): number;
}

export function createLanguage(weights: RankingWeights = rankingWeights, lists: WordLists = wordLists): Language {
  const memo = new Map<string, string>();
  const stopped = new Set(wordsOf(lists.stopwords));
  const shares = commonWordShares();
  const fillerStems = new Set(wordsOf(lists.fillers).map(stem));
  let thesaurus: Thesaurus | undefined;
  let postings: PostingsBuilder | undefined;
  let readTool: ReadTool | undefined;

  function stem(word: string): string {
    const known = memo.get(word);
    if (known !== undefined) return known;
    if (memo.size >= stemMemoLimit) memo.clear();
    const stemmed = stemOf(word);
    memo.set(word, stemmed);
    return stemmed;
  }

  const isStopword = (word: string): boolean => stopped.has(word);
  // The table remembers words itself.
  const builder = (): PostingsBuilder => (postings ??= createPostings(createStemTable({ stem: stemOf, isStopword })));

  return {
    weights,
    stem,
    isStopword,
    isFiller: (stemmed) => fillerStems.has(stemmed),
    telling(text) {
      const stems: string[] = [];
      for (const word of toProseWords(text)) if (!stopped.has(word)) stems.push(stem(word));
      return stems;
    },
    postings: builder,
    readTool: (tool) => (readTool ??= createToolReader(builder().stems))(tool),
    purposes: createPurposeReader(stem),
    thesaurus: () => (thesaurus ??= createThesaurus(lists, weights, stem)),
    commonness: (stemmed) => shares.get(stemmed) ?? 0,
  };
}

function stemOf(word: string): string {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word;
}
