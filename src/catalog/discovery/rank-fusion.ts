import type { ScoredTool } from "../search/rank.ts";
import type { ToolEntry } from "../model/snapshot.ts";

/** Reciprocal rank fusion's usual constant: how little the very first places differ. */
const damping = 60;

/**
 * One ranking out of several, by place alone: their scores have no common unit. A tool that is first in all of them
 * has the distance 1 - `closeness`, the others follow.
 */
export function fuseRanks(rankings: readonly (readonly ScoredTool[])[], closeness = 1): ScoredTool[] {
  const sums = new Map<ToolEntry, number>();
  for (const ranking of rankings) {
    for (const [place, { tool }] of ranking.entries())
      sums.set(tool, (sums.get(tool) ?? 0) + 1 / (damping + 1 + place));
  }
  const most = rankings.length / (damping + 1);
  return [...sums]
    .map(([tool, score]) => ({ tool, score, distance: 1 - (closeness * score) / most }))
    .sort((a, b) => b.score - a.score);
}
