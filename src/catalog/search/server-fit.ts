import type { SearchIndex } from "./merge.ts";

/** A tool by its number in the index, and its score so far. */
export interface Candidate {
  readonly tool: number;
  readonly score: number;
}

/**
 * A server whose tools fit well lifts all of its tools: its best one and half of its second best say how well it
 * fits.
 */
export function fitServers(index: SearchIndex, candidates: readonly Candidate[]): Candidate[] {
  const fits = new Map<number, { best: number; second: number }>();
  for (const { tool, score } of candidates) {
    const number = index.serverOf[index.partOf[tool] as number] as number;
    const fit = fits.get(number) ?? { best: 0, second: 0 };
    if (score > fit.best) fits.set(number, { best: score, second: fit.best });
    else if (score > fit.second) fits.set(number, { best: fit.best, second: score });
  }
  let most = 0;
  for (const { best, second } of fits.values()) most = Math.max(most, best + second / 2);
  const share = index.language.weights.serverFit / (most || 1);
  return candidates.map(({ tool, score }) => {
    const { best, second } = fits.get(index.serverOf[index.partOf[tool] as number] as number) ?? { best: 0, second: 0 };
    return { tool, score: score * (1 + share * (best + second / 2)) };
  });
}
