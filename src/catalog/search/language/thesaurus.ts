import { type WordLists, linesOf } from "./word-lists.ts";
import { toWords } from "./words.ts";

/** What else a stem may be called. */
export interface Thesaurus {
  /** Stems that mean nearly the same, and how much each counts beside the word itself (1). */
  synonyms(stem: string): ReadonlyMap<string, number>;
  /** What tools call the thing that a stem is said for; undefined when nothing is known. */
  hints(stem: string): Hints | undefined;
  has(stem: string): boolean;
}

export interface Hints {
  /** One entry per line that has the stem on its right: stems that name a tool together. */
  readonly names: readonly (readonly string[])[];
  /** How much each counts beside the word itself (1). */
  readonly weight: number;
}

/** Lists of words in the notations `groups` and `hints` (words/README.md). */
export type ThesaurusSource = Pick<WordLists, "strong" | "weak" | "hints">;

export interface ThesaurusWeights {
  readonly strong: number;
  readonly weak: number;
  readonly hint: number;
  /**
   * A word that hints at more stems than this says less about each: times (this / stems) to the power of
   * `hintSpread`.
   */
  readonly hintTargets: number;
  readonly hintSpread: number;
}

export function createThesaurus(
  source: ThesaurusSource,
  weights: ThesaurusWeights,
  stem: (word: string) => string,
): Thesaurus {
  const stemsOf = (text: string): string[] => [
    ...new Set(text.split(" ").flatMap((entry) => (entry === "" ? [] : [joinedStem(entry, stem)]))),
  ];
  const synonyms = readSynonyms(source, weights, stemsOf);
  const hints = readHints(source.hints, weights, stemsOf);
  return {
    synonyms: (stemmed) => synonyms.get(stemmed) ?? nothing,
    hints: (stemmed) => hints.get(stemmed),
    has: (stemmed) => synonyms.has(stemmed) || hints.has(stemmed),
  };
}

const nothing: ReadonlyMap<string, number> = new Map();

function readSynonyms(
  source: ThesaurusSource,
  weights: ThesaurusWeights,
  stemsOf: (text: string) => string[],
): Map<string, Map<string, number>> {
  const table = new Map<string, Map<string, number>>();
  const relate = (from: string, to: string, weight: number): void => {
    if (from === to) return;
    const row = table.get(from) ?? new Map<string, number>();
    row.set(to, Math.max(weight, row.get(to) ?? 0));
    table.set(from, row);
  };
  for (const [lists, weight] of [
    [source.weak, weights.weak],
    [source.strong, weights.strong],
  ] as const) {
    for (const line of linesOf(lists)) {
      const stems = stemsOf(line);
      for (const from of stems) for (const to of stems) relate(from, to, weight);
    }
  }
  return table;
}

function readHints(
  lists: readonly string[],
  weights: ThesaurusWeights,
  stemsOf: (text: string) => string[],
): ReadonlyMap<string, Hints> {
  const names = new Map<string, (readonly string[])[]>();
  for (const line of linesOf(lists)) {
    const [left = "", right = ""] = line.split(":");
    const called = left.split(" ").map((name) => stemsOf(name.replaceAll("+", " ")));
    for (const word of stemsOf(right)) {
      const known = names.get(word);
      if (known === undefined) names.set(word, [...called]);
      else known.push(...called);
    }
  }
  const hints = new Map<string, Hints>();
  for (const [word, called] of names) {
    const targets = new Set(called.flat()).size;
    const share = Math.min(1, (weights.hintTargets / targets) ** weights.hintSpread);
    hints.set(word, { names: called, weight: weights.hint * share });
  }
  return hints;
}

/** `pull_request` is looked up as the joined word that neighbours in a name become. */
function joinedStem(entry: string, stem: (word: string) => string): string {
  return stem(toWords(entry).join(""));
}
