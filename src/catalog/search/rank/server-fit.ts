import type { SearchIndex } from "../index/merge.ts";

/** A tool by its number in the index, and its score so far, which each step of a search changes. */
export interface Candidate {
  readonly tool: number;
  score: number;
}

/**
 * A server whose tools fit well lifts all of its tools: its best one and half of its second best say how well it
 * fits. Changes the scores that it is given, and returns the same list.
 */
export function fitServers<List extends readonly Candidate[]>(index: SearchIndex, candidates: List): List {
  const { best, second } = fitsOf(index);
  const serverOf = (tool: number): number => index.serverOf[index.partOf[tool] as number] as number;
  for (const { tool, score } of candidates) {
    const server = serverOf(tool);
    if (score > (best[server] as number)) {
      second[server] = best[server] as number;
      best[server] = score;
    } else if (score > (second[server] as number)) second[server] = score;
  }
  let most = 0;
  for (const { tool } of candidates) {
    const server = serverOf(tool);
    most = Math.max(most, (best[server] as number) + (second[server] as number) / 2);
  }
  const share = index.language.weights.serverFit / (most || 1);
  for (const candidate of candidates) {
    const server = serverOf(candidate.tool);
    candidate.score *= 1 + share * ((best[server] as number) + (second[server] as number) / 2);
  }
  for (const { tool } of candidates) best[serverOf(tool)] = second[serverOf(tool)] = 0;
  return candidates;
}

interface Fits {
  readonly best: Float64Array;
  readonly second: Float64Array;
}

/** By server; zero between two searches, which never overlap. */
const fits = new WeakMap<SearchIndex, Fits>();

function fitsOf(index: SearchIndex): Fits {
  let known = fits.get(index);
  if (known === undefined) {
    const servers = (index.serverOf.at(-1) ?? -1) + 1;
    fits.set(index, (known = { best: new Float64Array(servers), second: new Float64Array(servers) }));
  }
  return known;
}
