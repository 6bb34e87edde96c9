import type { ScoredTool } from "../../search/rank.ts";
import type { ToolEntry } from "../../model/snapshot.ts";

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
