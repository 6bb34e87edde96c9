import type { SearchIndex } from "./merge.ts";
import { rarityOf } from "./merge.ts";
import type { QueryPlan } from "./query.ts";
import type { Candidate } from "./server-fit.ts";

/**
 * By tool number: how much the query is like one that led to the tool before (0 to 1). Only what is above the floor.
 */
export type LearnedTools = ReadonlyMap<number, number>;

type Telling = (stem: string) => number;
const tellings = new WeakMap<SearchIndex, Telling>();

/** How much a stem says in the comparison of two queries: one function for each index. */
export function tellingOf(index: SearchIndex): Telling {
  let telling = tellings.get(index);
  if (telling === undefined) tellings.set(index, (telling = toTelling(index)));
  return telling;
}

function toTelling({ language, terms, rarity, toolCount }: SearchIndex): Telling {
  return (stem) =>
    (language.isFiller(stem) ? language.weights.filler : 1) *
    (rarity[terms.get(stem) ?? -1] ?? rarityOf(0, toolCount, language.commonness(stem), language.weights));
}

/**
 * More for tools that such a query led to before, in proportion to the best score by words, so that it means as much in
 * every catalog. A tool that no word leads to is found too. Queries like this one share out what they add by how like
 * it they are: where they led to many tools, their common words say little about any of them, and tools that nobody has
 * used yet are better found by words.
 */
export function addLearned(
  index: SearchIndex,
  plan: QueryPlan,
  candidates: readonly Candidate[],
  { learned, isWanted }: { readonly learned: LearnedTools; readonly isWanted: (tool: number) => boolean },
): Candidate[] {
  const { weight, floor } = index.language.weights.learned;
  const best = candidates.reduce((most, { score }) => Math.max(most, score), 0) || unknownScore(index, plan);
  const likely = new Map<number, number>();
  let all = 0;
  for (const [tool, similarity] of learned) {
    if (similarity <= floor || !isWanted(tool)) continue;
    likely.set(tool, similarity - floor);
    all += similarity - floor;
  }
  const bonusOf = (tool: number): number => (weight * best * (likely.get(tool) ?? 0) ** 2) / (all || 1);
  const known = new Set(candidates.map(({ tool }) => tool));
  const others = [...likely.keys()].filter((tool) => !known.has(tool));
  return [
    ...candidates.map(({ tool, score }) => ({ tool, score: score + bonusOf(tool) })),
    ...others.map((tool) => ({ tool, score: bonusOf(tool) })),
  ];
}

/** What a tool would have that answers a query of whose words no tool has any. */
function unknownScore(index: SearchIndex, plan: QueryPlan): number {
  const telling = tellingOf(index);
  return plan.groups.reduce((sum, { stem }) => sum + telling(stem), 0);
}
