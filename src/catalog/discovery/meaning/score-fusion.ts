import type { ScoredTool, Ranking } from "../../search/rank.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import { confidenceWeights, type Match } from "../../search/rank/confidence.ts";

/** The weight of full similarity, where the best score by words counts 1. */
const meaningWeight = 0.3;

/**
 * Makes one ranking of two: each tool's score by words as a share of the best one, plus 0.3 times its similarity.
 * Scores are combined rather than ranks, because most models rank worse than words do, and where a model is unsure
 * its scores hardly differ and so change little. A tool that has no vector yet counts as similar as the others are on
 * average. The best tool gets the distance 1 - `closeness`, and the others follow.
 */
export function fuseScores(
  worded: readonly ScoredTool[],
  meant: readonly ScoredTool[],
  { closeness, depth }: { readonly closeness: number; readonly depth: number },
): ScoredTool[] {
  const best = worded[0]?.score ?? 1;
  const words = new Map<ToolEntry, number>();
  for (const { tool, score } of worded.slice(0, depth)) words.set(tool, score / best);
  const similarities = new Map<ToolEntry, number>();
  let sum = 0;
  for (const [place, { tool, score }] of meant.entries()) {
    sum += score;
    if (place < depth || words.has(tool)) similarities.set(tool, score);
  }
  const mean = meant.length === 0 ? 0 : sum / meant.length;
  const fused = [...new Set([...words.keys(), ...similarities.keys()])]
    .map((tool) => ({ tool, score: (words.get(tool) ?? 0) + meaningWeight * (similarities.get(tool) ?? mean) }))
    .sort((a, b) => b.score - a.score);
  const most = fused[0]?.score ?? 1;
  return fused.map(({ tool, score }) => ({ tool, score, distance: 1 - closeness * Math.max(0, score / (most || 1)) }));
}

/** How far the nearest tool must lie above the maximum expected by chance, in standard deviations. */
const standoutMargin = 1;

/**
 * Whether anything fits, when both words and meaning were searched. Words decide, because the similarities of one
 * model cannot be compared with those of another. Only where words find nothing may meaning say that something fits
 * after all: when one tool is nearer to the question than the nearest of so many would be by chance.
 */
export function matchWithMeaning(
  worded: Ranking,
  meant: readonly ScoredTool[],
): { readonly match: Match; readonly closeness: number } {
  const closeness = 1 - (worded.tools[0]?.distance ?? 1);
  if (worded.match !== "none" || !standsOut(meant)) return { match: worded.match, closeness };
  return { match: "weak", closeness: Math.max(closeness, confidenceWeights.weakFrom) };
}

/** The largest of n normally distributed numbers lies about sqrt(2 ln n) standard deviations above their mean. */
function standsOut(tools: readonly ScoredTool[]): boolean {
  const best = tools[0];
  if (best === undefined || tools.length < 3) return false;
  const mean = tools.reduce((sum, { score }) => sum + score, 0) / tools.length;
  const variance = tools.reduce((sum, { score }) => sum + (score - mean) ** 2, 0) / tools.length;
  const byChance = Math.sqrt(2 * Math.log(tools.length));
  return best.score - mean > (byChance + standoutMargin) * Math.sqrt(variance);
}
