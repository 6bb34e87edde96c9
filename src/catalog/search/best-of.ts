import type { Candidate } from "./server-fit.ts";

/** Best first; of equals the one with the lower number. */
export const byScore = (a: Candidate, b: Candidate): number => b.score - a.score || a.tool - b.tool;

/** The best few of many without sorting the many: what is below the best so far is passed over, and so is 0. */
export function bestOf(scores: Float64Array, limit: number, isWanted: (tool: number) => boolean): Candidate[] {
  const found: Candidate[] = [];
  let least = 0;
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] as number;
    if (score <= least || !isWanted(tool)) continue;
    found.push({ tool, score });
    if (found.length < 4 * limit) continue;
    found.sort(byScore).length = limit;
    least = (found[limit - 1] as Candidate).score;
  }
  return found.sort(byScore).slice(0, limit);
}
