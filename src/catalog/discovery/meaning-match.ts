import { confidenceWeights, type Match } from "../search/confidence-weights.ts";
import type { Ranking, ScoredTool } from "../search/rank.ts";

/** How far beyond what chance gives the nearest tool has to be, in standard deviations. */
const standoutMargin = 1;

/**
 * Whether anything fits, where words and meaning were asked. Words decide, because similarities of one model say
 * nothing about those of another. Only where words find nothing, meaning may say that something is there all the same:
 * when one tool is nearer to the question than the nearest of so many would be by chance.
 */
export function matchWithMeaning(
  worded: Ranking,
  meant: readonly ScoredTool[],
): { readonly match: Match; readonly closeness: number } {
  const closeness = 1 - (worded.tools[0]?.distance ?? 1);
  if (worded.match !== "none" || !standsOut(meant)) return { match: worded.match, closeness };
  return { match: "weak", closeness: Math.max(closeness, confidenceWeights.weakFrom) };
}

/** The largest of n normally distributed numbers is about sqrt(2 ln n) standard deviations above their mean. */
function standsOut(tools: readonly ScoredTool[]): boolean {
  const best = tools[0];
  if (best === undefined || tools.length < 3) return false;
  const mean = tools.reduce((sum, { score }) => sum + score, 0) / tools.length;
  const variance = tools.reduce((sum, { score }) => sum + (score - mean) ** 2, 0) / tools.length;
  const byChance = Math.sqrt(2 * Math.log(tools.length));
  return best.score - mean > (byChance + standoutMargin) * Math.sqrt(variance);
}
