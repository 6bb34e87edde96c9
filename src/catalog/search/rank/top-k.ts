import type { Candidate } from "./server-fit.ts";

/** Best first; of equals the one with the lower number. */
export const byScore = (a: Candidate, b: Candidate): number => b.score - a.score || a.tool - b.tool;

/** Steps in which scores are told apart at first: one search has some thousand, of which two hundred are kept. */
const stepCount = 512;

/**
 * The best few of many, in the order of their numbers: of equals at the end those with the lower ones. Those with a
 * score of 0 are none of them. Finds the score of the last one without sorting the many: it counts how many there are
 * in each of 512 steps up to the best score, and looks closer only at the step in which the last one is.
 */
export function bestOf(scores: Float64Array, limit: number, isWanted?: (tool: number) => boolean): Candidate[] {
  const tools = new Uint32Array(scores.length);
  let count = 0;
  let most = 0;
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] as number;
    if (score <= 0 || (isWanted !== undefined && !isWanted(tool))) continue;
    tools[count] = tool;
    count += 1;
    if (score > most) most = score;
  }
  const { last, equals } = lastOf({ scores, tools, count, most }, limit);
  const found: Candidate[] = [];
  let left = equals;
  for (let at = 0; at < count; at += 1) {
    const tool = tools[at] as number;
    const score = scores[tool] as number;
    if (score < last || (score === last && left === 0)) continue;
    if (score === last) left -= 1;
    found.push({ tool, score });
  }
  return found;
}

interface Scored {
  readonly scores: Float64Array;
  readonly tools: Uint32Array;
  readonly count: number;
  readonly most: number;
}

/** The score of the last of the best, and how many of those that have it are among them. */
function lastOf({ scores, tools, count, most }: Scored, limit: number): { last: number; equals: number } {
  if (count <= limit) return { last: 0, equals: 0 };
  const steps = new Uint32Array(stepCount + 1);
  const scale = stepCount / most;
  for (let at = 0; at < count; at += 1) {
    const step = ((scores[tools[at] as number] as number) * scale) | 0;
    steps[step] = (steps[step] as number) + 1;
  }
  let step = stepCount;
  let above = 0;
  while (above + (steps[step] as number) < limit) {
    above += steps[step] as number;
    step -= 1;
  }
  const inStep = new Float64Array(steps[step] as number);
  let size = 0;
  for (let at = 0; at < count; at += 1) {
    const score = scores[tools[at] as number] as number;
    if (((score * scale) | 0) !== step) continue;
    inStep[size] = score;
    size += 1;
  }
  inStep.sort();
  const last = inStep[size - (limit - above)] as number;
  let equals = limit - above;
  for (let at = size - 1; (inStep[at] as number) > last; at -= 1) equals -= 1;
  return { last, equals };
}

/** The first `limit` of these when they are sorted: an answer has ten of two hundred. */
export function firstOf(candidates: readonly Candidate[], limit: number): Candidate[] {
  const first: Candidate[] = [];
  for (const candidate of candidates) {
    if (first.length === limit && byScore(candidate, first[limit - 1] as Candidate) >= 0) continue;
    let at = first.length < limit ? first.length : limit - 1;
    for (; at > 0 && byScore(candidate, first[at - 1] as Candidate) < 0; at -= 1)
      first[at] = first[at - 1] as Candidate;
    first[at] = candidate;
  }
  return first;
}
