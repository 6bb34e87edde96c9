import type { ScoredTool } from "../search/rank.ts";
import type { ToolEntry } from "../model/snapshot.ts";

/** What the whole of similarity counts beside the best score by words. */
const meaningWeight = 0.3;

/**
 * One ranking out of two: the score by words as a share of the best one, and 0.3 x similarity. By score and not by
 * place, because most models rank worse than words do: what they are not sure about then changes little. A tool that
 * has no vector yet counts as similar as the others are on the mean. The best tool has the distance 1 - `closeness`,
 * the others follow.
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
