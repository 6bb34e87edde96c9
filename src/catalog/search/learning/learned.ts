import type { SearchIndex } from "../index/merge.ts";
import { rarityOf } from "../index/merge.ts";
import type { QueryPlan } from "../rank/query.ts";
import type { Candidate } from "../rank/server-fit.ts";

/** What past queries say of one tool. */
export interface Lesson {
  /** How like the query is to the most similar one that led to it, 0 to 1; 0 below the floor. */
  readonly likeness: number;
  /** How much its words speak for the tool: see `Leaning`. 0 where that is little. */
  readonly odds: number;
}

/** By tool number. */
export type LearnedTools = ReadonlyMap<number, Lesson>;

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
 * every catalog. A tool that no word leads to is found too. Two things count:
 *
 * Similar queries share out what they add by how like it they are. Where they led to many tools, their common words say
 * little about any of them, and tools that are still unused are better found by words.
 *
 * And the words of all queries that led to a tool, as far as they speak for it: as much as it is likely that the query
 * is about that tool, if it is about one that was used or about something else.
 */
export function addLearned(
  index: SearchIndex,
  plan: QueryPlan,
  candidates: readonly Candidate[],
  { learned, isWanted }: { readonly learned: LearnedTools; readonly isWanted: (tool: number) => boolean },
): Candidate[] {
  const { likeness, floor, words } = index.language.weights.learned;
  const best = candidates.reduce((most, { score }) => Math.max(most, score), 0) || unknownScore(index, plan);
  const likely = new Map<number, Lesson>();
  let allAbove = 0;
  // One more, for all that it may be about beside these.
  let allOdds = 1;
  for (const [tool, lesson] of learned) {
    if ((lesson.likeness <= floor && lesson.odds === 0) || !isWanted(tool)) continue;
    likely.set(tool, lesson);
    allAbove += Math.max(0, lesson.likeness - floor);
    allOdds += lesson.odds;
  }
  const bonusOf = (tool: number): number => {
    const lesson = likely.get(tool);
    if (lesson === undefined) return 0;
    const alike = Math.max(0, lesson.likeness - floor) ** 2 / (allAbove || 1);
    return best * (likeness * alike + words * (lesson.odds / allOdds) ** 2);
  };
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
