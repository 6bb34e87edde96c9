import { fieldCount } from "../language/fields.ts";
import { rarityOf, type SearchIndex } from "../index/merge.ts";
import { packed } from "../index/postings.ts";
import type { Member, QueryPlan } from "./query.ts";
import type { Candidate } from "./server-fit.ts";

/** How sure an answer is that one of its tools does what was asked. */
export type Match = "good" | "weak" | "none";

export interface ConfidenceWeights {
  /** Logistic regression: bias, and what each of the two signals of `confidence.ts` counts. */
  readonly bias: number;
  readonly strength: number;
  readonly literal: number;
  /** Confidence below which nothing fits, and from which something does. */
  readonly weakFrom: number;
  readonly goodFrom: number;
  /** Share of all tools that is taken to have a word that neither this catalog nor `common-words.txt` has. */
  readonly unknownCommonness: number;
}

/**
 * Made by `npm run bench bench/retrieval/answerable.ts`, which prints this row: fitted on one half of the questions,
 * with five corpora whole and in pieces of 20 to 400 tools, real MCP servers counting twice; judged on the other half.
 * docs/search.md has the figures.
 */
export const confidenceWeights: ConfidenceWeights = Object.freeze({
  bias: -2.62,
  strength: 0.45,
  literal: 1.96,
  weakFrom: 0.19,
  goodFrom: 0.52,
  unknownCommonness: 0.003,
});

export interface Confidence {
  /** 0 to 1: how likely the best tool does what was asked, where half of all questions have a tool. */
  readonly value: number;
  readonly match: Match;
  /** 1 minus the distance of the best tool. 1 only when it has every word, and the catalog knows them all. */
  readonly closeness: number;
}

/** What confidence is made of. Both are as large in a catalog of ten tools as in one of ten thousand. */
export interface Signals {
  /**
   * The best tool's score beside the root of what the question asks for: long questions never get all, short ones do
   * by chance.
   */
  readonly strength: number;
  /**
   * Share of the question, weighted by rarity, whose very words the best tool has, or a question that led to it had.
   */
  readonly literal: number;
  /** The best tool has every word, one at least that is not conversational, and the catalog lacks none. */
  readonly isWhole: boolean;
}

/**
 * Judges the best tool of a ranking. Looks at that tool alone, so it costs the same in every catalog. `similarity` is
 * that of the question to one that led to this tool before. Pure.
 */
export function confidenceOf(index: SearchIndex, plan: QueryPlan, best: Candidate, similarity = 0): Confidence {
  const signals = readSignals(index, plan, best, similarity);
  const value = plan.isTelling || similarity > 0 ? likelihood(signals, confidenceWeights) : 0;
  const match = matchAt(value);
  const closeness = match === "good" && signals.isWhole ? 1 : Math.min(value, mostUnlessWhole);
  return { value, match, closeness };
}

/** A distance of 0 is kept for tools that have the whole question: after rounding too. */
const mostUnlessWhole = 0.99;

export function matchAt(value: number): Match {
  if (value < confidenceWeights.weakFrom) return "none";
  return value < confidenceWeights.goodFrom ? "weak" : "good";
}

export function likelihood({ strength, literal }: Signals, weights: ConfidenceWeights): number {
  return 1 / (1 + Math.exp(-(weights.bias + weights.strength * strength + weights.literal * literal)));
}

export function readSignals(index: SearchIndex, plan: QueryPlan, best: Candidate, similarity = 0): Signals {
  const asked = new Set(plan.stems);
  let wanted = 0;
  let had = 0;
  let hasTelling = false;
  let lacksWord = false;
  for (const { stem, weight, members } of plan.groups) {
    // Two neighbours written as one word only repeat what they say.
    if (!asked.has(stem)) continue;
    const literal = members.find((member) => member.stem === stem);
    const importance = weight * (literal?.rarity ?? unknownRarity(index, stem));
    const share = literal === undefined ? 0 : shareOf(index, literal, best.tool);
    wanted += importance;
    had += importance * share;
    if (share > 0) hasTelling ||= weight === 1;
    // A conversational word or a number that no tool has says nothing; any other may be what the question is about.
    else lacksWord ||= literal !== undefined || weight === 1;
  }
  if (wanted === 0) return { strength: 0, literal: 0, isWhole: false };
  return {
    strength: best.score / Math.sqrt(wanted),
    literal: Math.max(had / wanted, similarity),
    isWhole: hasTelling && !lacksWord,
  };
}

/** Of a word that no tool here has. */
function unknownRarity({ language, toolCount }: SearchIndex, stem: string): number {
  const commonness = language.commonness(stem) || confidenceWeights.unknownCommonness;
  return rarityOf(0, toolCount, commonness, language.weights);
}

/** How much of a word a tool has: 1 for a mention in its name or description, less for one in a parameter's text. */
function shareOf(index: SearchIndex, member: Member, tool: number): number {
  const count = mentionsIn(index, member.term, tool);
  const { k1 } = index.language.weights;
  return Math.min(1, ((k1 + 1) * count) / (k1 + count));
}

/** The mentions of a term in one tool, weighted by field as the ranking does. */
function mentionsIn(index: SearchIndex, term: number, tool: number): number {
  let mentions = 0;
  for (const posting of postingsOf(index, term, tool))
    mentions += packed.count(posting) * (index.mention[tool * fieldCount + packed.field(posting)] as number);
  return mentions;
}

/** The postings of a term in one tool, by field. */
export function postingsOf({ refStart, refPosting, postings }: SearchIndex, term: number, tool: number): Uint32Array {
  const first = refPosting[refStart[term] as number] as number;
  const end = refPosting[refStart[term + 1] as number] as number;
  const from = firstAtLeast(postings, packed.of(tool, 0, 0), first, end);
  return postings.subarray(from, firstAtLeast(postings, packed.of(tool + 1, 0, 0), from, end));
}

/** Place of the first number that is not below `least`, among ascending ones from `start` to `end`. */
function firstAtLeast(numbers: ArrayLike<number>, least: number, start: number, end: number): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
