import { findWords, type FoundWords } from "./explain-words.ts";
import type { Explanation, ExplainedRanking, PhraseShare, WordShare } from "./explanation.ts";
import { nameCoverage } from "../rank/coverage.ts";
import type { LearnedTools } from "../learning/learned.ts";
import { toolAt, type SearchIndex } from "../index/merge.ts";
import { findPhrases, type Phrase } from "../phrases.ts";
import { planQuery, type QueryPlan } from "../rank/query.ts";
import { findCandidates, refine, search, wantedBy, type SearchOptions } from "../rank.ts";
import { fitServers, type Candidate } from "../rank/server-fit.ts";
import { queryWords, type QueryWords } from "../rank/query-words.ts";
import { toWords } from "../language/words.ts";

/**
 * The same ranking as {@link search}, with the reasons for it. The order and the scores are the ranker's own; where
 * they come from is worked out again for the tools of the answer alone, from the postings, so that a search without
 * explanations pays nothing for this. Takes about three times as long as the search. Pure; never throws.
 */
export function explain(index: SearchIndex, query: string, options: SearchOptions): ExplainedRanking {
  // Before anything else is scored, because all scoring of an index uses the same memory.
  const ranking = search(index, query, options);
  const plan = planQuery(index, query);
  const steps = scoreInSteps(index, query, plan, options);
  const asked: Asked = {
    plan,
    words: queryWords(index.language, query),
    phrases: findPhrases(index, plan.stems),
    purposes: index.language.purposes.ofQuery(toWords(query)),
    coverageOf: nameCoverage(index, plan),
    learned: options.learned ?? new Map(),
  };
  const numbers = numbersOf(index, steps, asked);
  return {
    ...ranking,
    tools: ranking.tools.map((found) => {
      const tool = numbers.get(found.tool) as number;
      return { ...found, explanation: explainTool(index, asked, { tool, score: found.score }, steps(tool)) };
    }),
  };
}

interface Asked {
  readonly plan: QueryPlan;
  readonly words: QueryWords;
  readonly phrases: readonly Phrase[];
  readonly purposes: ReturnType<SearchIndex["language"]["purposes"]["ofQuery"]>;
  readonly coverageOf: (tool: number) => number;
  readonly learned: LearnedTools;
}

/** A tool's score as it grew: by words, with its name and purpose, with its server. 0 for one that was only learned. */
interface Steps {
  readonly worded: number;
  readonly refined: number;
  readonly fitted: number;
}

type StepsOf = ((tool: number) => Steps) & { readonly tools: Iterable<number> };

function scoreInSteps(index: SearchIndex, query: string, plan: QueryPlan, options: SearchOptions): StepsOf {
  const { candidates } = findCandidates(index, plan, wantedBy(index, options));
  const worded = toScores(candidates);
  const refinedOnes = refine(index, query, plan, candidates);
  const refined = toScores(refinedOnes);
  const fitted = toScores(fitServers(index, refinedOnes));
  const stepsOf = (tool: number): Steps => ({
    worded: worded.get(tool) ?? 0,
    refined: refined.get(tool) ?? 0,
    fitted: fitted.get(tool) ?? 0,
  });
  return Object.assign(stepsOf, { tools: worded.keys() });
}

function toScores(candidates: readonly Candidate[]): ReadonlyMap<number, number> {
  return new Map(candidates.map(({ tool, score }) => [tool, score]));
}

/** The numbers of the tools that an answer may have. */
function numbersOf(index: SearchIndex, { tools }: StepsOf, { learned }: Asked): ReadonlyMap<unknown, number> {
  return new Map([...tools, ...learned.keys()].map((tool) => [toolAt(index, tool), tool]));
}

function explainTool(
  index: SearchIndex,
  asked: Asked,
  { tool, score }: Candidate,
  { worded, refined, fitted }: Steps,
): Explanation {
  const { weights, purposes } = index.language;
  const shareOf = (value: number): number => (score === 0 ? 0 : value / score);
  const ofName = asked.coverageOf(tool);
  const covered = worded * (1 + weights.coverage * ofName);
  const name = toolAt(index, tool).definition.name;
  // Far down by its words, it was found for what was learned alone: then its words counted nothing.
  const groups = worded === 0 ? [] : asked.plan.groups;
  return {
    words: groups
      .map((group) => findWords(index, group, tool))
      .filter((found) => found !== undefined)
      .map((found) => toWordShare(found, asked.words, shareOf))
      .toSorted((one, other) => other.share - one.share),
    phrases: worded === 0 ? [] : phraseShares(asked, tool, shareOf),
    coverage: { ofName, share: shareOf(covered - worded) },
    intent: {
      asked: [...asked.purposes],
      does: asked.purposes.size > 0 ? (purposes.ofName(name) ?? null) : null,
      share: shareOf(refined - covered),
    },
    serverFit: { share: shareOf(fitted - refined) },
    learned: { likeness: asked.learned.get(tool)?.likeness ?? 0, share: shareOf(score - fitted) },
  };
}

function toWordShare(found: FoundWords, words: QueryWords, shareOf: (value: number) => number): WordShare {
  return {
    asked: words.of(found.stem),
    share: shareOf(found.value),
    found: found.members
      .map(({ value, ...word }) => ({ ...word, share: shareOf(value) }))
      .toSorted((one, other) => other.share - one.share),
  };
}

function phraseShares(
  { phrases, words }: Asked,
  tool: number,
  shareOf: (value: number) => number,
): readonly PhraseShare[] {
  return phrases.flatMap(({ left, right, value, shares }) => {
    const share = shares.get(tool);
    if (share === undefined) return [];
    const where = share === 1 ? "name" : "text";
    return [{ asked: `${words.of(left)} ${words.of(right)}`, where, share: shareOf(share * value) } as const];
  });
}
