import { confidenceWeights, type Match } from "../../search/rank/confidence-weights.ts";
import type { Ranking, ScoredTool } from "../../search/rank.ts";

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
