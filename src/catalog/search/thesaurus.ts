import { toWords } from "./words.ts";

/** What else a stem may be called: stems and how much each counts beside the word itself (1). */
export interface Thesaurus {
  related(stem: string): ReadonlyMap<string, number>;
  has(stem: string): boolean;
}

export interface ThesaurusSource {
  /** Near-exact equivalents, one group per line. */
  readonly strong: string;
  /** Related words, one group per line. */
  readonly weak: string;
  /**
   * `tool words: people's words`, one line each: what people say, and what tools call it. Each word on the right also looks for
   * those on the left, never the other way round: who speaks of an umbrella may want the weather, not the reverse.
   */
  readonly hints: string;
}

export interface ThesaurusWeights {
  readonly strong: number;
  readonly weak: number;
  readonly hint: number;
}

export function createThesaurus(
  source: ThesaurusSource,
  weights: ThesaurusWeights,
  stem: (word: string) => string,
): Thesaurus {
  const table = new Map<string, Map<string, number>>();
  const relate = (from: string, to: string, weight: number): void => {
    if (from === to) return;
    const row = table.get(from) ?? new Map<string, number>();
    row.set(to, Math.max(weight, row.get(to) ?? 0));
    table.set(from, row);
  };
  const stemsOf = (line: string): string[] => [
    ...new Set(
      line
        .trim()
        .split(/\s+/)
        .map((entry) => joinedStem(entry, stem)),
    ),
  ];

  for (const [lines, weight] of [
    [source.weak, weights.weak],
    [source.strong, weights.strong],
  ] as const) {
    for (const line of linesOf(lines)) {
      const stems = stemsOf(line);
      for (const from of stems) for (const to of stems) relate(from, to, weight);
    }
  }
  for (const line of linesOf(source.hints)) {
    const [heads = "", words = ""] = line.split(":");
    for (const head of stemsOf(heads)) for (const word of stemsOf(words)) relate(word, head, weights.hint);
  }
  return { related: (stem) => table.get(stem) ?? nothing, has: (stem) => table.has(stem) };
}

const nothing: ReadonlyMap<string, number> = new Map();

/** `pull_request` is looked up as the joined word that neighbours in a name become. */
function joinedStem(entry: string, stem: (word: string) => string): string {
  return stem(toWords(entry).join(""));
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
}
