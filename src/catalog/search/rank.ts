import type { ServerSlug } from "../../kernel/ids.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import { bestOf, firstOf } from "./rank/top-k.ts";
import { confidenceOf, type Match } from "./rank/confidence.ts";
import { nameCoverage } from "./rank/coverage.ts";
import { addLearned, type LearnedTools } from "./learning/learned.ts";
import { toolAt, type SearchIndex } from "./index/merge.ts";
import { addPhrases, findPhrases } from "./phrases.ts";
import { atLeast, boundsOfParts, promising } from "./rank/promising-parts.ts";
import { planQuery, type QueryPlan } from "./rank/query.ts";
import { emptyScores, scoreGroups } from "./rank/score.ts";
import { fitServers, type Candidate } from "./rank/server-fit.ts";
import { toWords } from "./language/words.ts";
import { purposes, type Purpose } from "./language/verb-purpose.ts";

export interface ScoredTool {
  readonly tool: ToolEntry;
  /** Higher is better; comparable within one answer only. */
  readonly score: number;
  /**
   * 0 a perfect match, 1 none: that of the best tool is what the answer lacks to be sure, the others follow by score.
   */
  readonly distance: number;
}

export interface Ranking {
  /** Best first, at most as many as asked for; empty only when no word of the query is known. */
  readonly tools: readonly ScoredTool[];
  /** Tools that fit at all, `tools` among them; counted up to 200. */
  readonly total: number;
  /** Whether the best tool does what was asked. */
  readonly match: Match;
}

export interface SearchOptions {
  readonly limit: number;
  readonly server?: ServerSlug;
  /** What queries like this one led to before. */
  readonly learned?: LearnedTools;
  readonly allow?: (tool: ToolEntry) => boolean;
  /** Keep tools far behind a clear winner too. */
  readonly keepAll?: boolean;
}

/** How many of the best by words are looked at more closely. */
const candidateLimit = 200;
/** Parts that are looked at first: enough that the last of their best tools is nearly as good as the last of all. */
const sampleParts = 100;
/** The best tool is a clear winner when it has this share of what the query says, */
const clearAt = 0.8;
/** and then what scores less than this share of it is not worth its tokens. */
const farBehind = 0.4;

/** The tools that fit a query best. Pure; never throws. docs/search.md tells how. */
export function search(index: SearchIndex, query: string, options: SearchOptions): Ranking {
  const plan = planQuery(index, query);
  const isWanted = wantedBy(index, options);
  const { learned } = options;
  const { candidates, matched } = findCandidates(index, plan, isWanted, learned);
  const worded = fitServers(index, refine(index, query, plan, candidates));
  const lifted =
    learned === undefined || learned.size === 0
      ? worded
      : addLearned(index, plan, worded, { learned, isWanted: isWanted ?? everyTool });
  const [best] = firstOf(lifted, 1);
  if (best === undefined) return { tools: [], total: 0, match: "none" };
  const isClear = shareOf(plan, matched[best.tool] as number) >= clearAt && options.keepAll !== true;
  // What was learned lifts tools; it is no reason to leave others out.
  const bestByWords = isClear ? worded.reduce((most, { score }) => Math.max(most, score), 0) : 0;
  const kept = isClear ? lifted.filter(({ score }) => score >= farBehind * bestByWords) : lifted;
  const { match, closeness } = confidenceOf(index, plan, best, learned?.get(best.tool)?.likeness);
  const tools = firstOf(kept, options.limit).map(({ tool, score }) => ({
    tool: toolAt(index, tool),
    score,
    distance: 1 - (closeness * score) / best.score,
  }));
  return { tools, total: kept.length, match };
}

/**
 * The best by words, and how much of the query's words each has; also that of learned ones, which may become the best
 * although their words are few.
 */
export function findCandidates(
  index: SearchIndex,
  { groups, stems }: QueryPlan,
  isWanted: ((tool: number) => boolean) | undefined,
  learned?: LearnedTools,
): { readonly candidates: readonly Candidate[]; readonly matched: Float64Array } {
  const phrases = findPhrases(index, stems);
  const scored = emptyScores(index);
  const score = (only?: Uint8Array): readonly Candidate[] => {
    scoreGroups(index, groups, scored, only);
    addPhrases(index, phrases, scored.scores, only);
    return bestOf(scored.scores, candidateLimit, isWanted);
  };
  const bounds = boundsOfParts(index, groups, phrases);
  if (bounds === undefined) return { candidates: score(), matched: scored.matched };
  // The last of the best among the most promising parts: what cannot reach it need not be looked at.
  const first = promising(bounds, sampleParts);
  const sample = score(first);
  const least = sample.length < candidateLimit ? 0 : leastOf(sample);
  const second = atLeast(bounds, least, first);
  for (const tool of learned?.keys() ?? []) {
    const part = index.partOf[tool] as number;
    if (first[part] === 0) second[part] = 1;
  }
  return { candidates: score(second), matched: scored.matched };
}

/**
 * More for names that the query covers, less for tools that do something else than it asks. Changes the scores that it
 * is given, and returns the same list.
 */
export function refine(
  index: SearchIndex,
  query: string,
  plan: QueryPlan,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const { weights, purposes } = index.language;
  const coverageOf = nameCoverage(index, plan);
  const purposeOf = purposesOf(index);
  const wanted = purposes.ofQuery(toWords(query));
  for (const candidate of candidates) {
    const { tool, score } = candidate;
    const does = wanted.size > 0 ? purposeOf(tool) : undefined;
    const misses = does !== undefined && !wanted.has(does);
    candidate.score = score * (1 + weights.coverage * coverageOf(tool)) * (misses ? 1 - weights.purpose : 1);
  }
  return candidates;
}

function leastOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((least, { score }) => Math.min(least, score), Number.POSITIVE_INFINITY);
}

const everyTool = (): boolean => true;

/**
 * Undefined where every tool is.
 */
export function wantedBy(index: SearchIndex, options: SearchOptions): ((tool: number) => boolean) | undefined {
  const { server, allow } = options;
  if (server === undefined && allow === undefined) return undefined;
  return (tool) => isWantedTool(toolAt(index, tool), options);
}

/** Whether a tool passes the filters of a search. */
export function isWantedTool(tool: ToolEntry, { server, allow }: Pick<SearchOptions, "server" | "allow">): boolean {
  if (server !== undefined && tool.server !== server) return false;
  return allow === undefined || allow(tool);
}

/** Share that the best tool has of what this catalog can give. */
function shareOf(plan: QueryPlan, matched: number): number {
  const all = plan.groups.reduce((sum, { full }) => sum + full, 0);
  return all === 0 ? 0 : Math.min(1, matched / all);
}

const unread = 0;
const none = 1;
const first = 2;

/** By tool: what its name says that it does, a byte each. */
const known = new WeakMap<SearchIndex, Uint8Array>();

/**
 * What the first verbs of tools' names do. A search asks this of two hundred tools, and neither their definitions nor
 * the memory of names is near at hand in a large catalog.
 */
export function purposesOf(index: SearchIndex): (tool: number) => Purpose | undefined {
  let ofTools = known.get(index);
  if (ofTools === undefined) known.set(index, (ofTools = new Uint8Array(index.toolCount)));
  const codes = ofTools;
  return (tool) => {
    const code = codes[tool] as number;
    return purposes[(code === unread ? (codes[tool] = readCode(index, tool)) : code) - first];
  };
}

function readCode(index: SearchIndex, tool: number): number {
  const purpose = index.language.purposes.ofName(toolAt(index, tool).definition.name);
  return purpose === undefined ? none : first + purposes.indexOf(purpose);
}
