import type { Candidate } from "./server-fit.ts";

/** Best first; of equals the one with the lower number. */
export const byScore = (a: Candidate, b: Candidate): number => b.score - a.score || a.tool - b.tool;

/**
 * The best few of many, in the order of their numbers: of equals at the end those with the lower ones. Those with a
 * score of 0 are none of them. Finds the score of the last one without sorting the many.
 */
export function bestOf(scores: Float64Array, limit: number, isWanted?: (tool: number) => boolean): Candidate[] {
  const found: Candidate[] = [];
  const values = new Float64Array(scores.length);
  let count = 0;
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] as number;
    if (score <= 0 || (isWanted !== undefined && !isWanted(tool))) continue;
    values[count] = score;
    count += 1;
  }
  const last = count <= limit ? 0 : largest(values, count, limit);
  let equals = limit;
  if (last > 0) for (let at = 0; at < count; at += 1) if ((values[at] as number) > last) equals -= 1;
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] as number;
    if (score <= 0 || score < last || (score === last && equals === 0)) continue;
    if (isWanted !== undefined && !isWanted(tool)) continue;
    if (score === last) equals -= 1;
    found.push({ tool, score });
  }
  return found;
}

/** The `place`-th largest of the first `count` values, which are put into another order (Hoare's selection). */
function largest(values: Float64Array, count: number, place: number): number {
  let low = 0;
  let high = count - 1;
  const wanted = place - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1] as number;
    let left = low;
    let right = high;
    while (left <= right) {
      while ((values[left] as number) > pivot) left += 1;
      while ((values[right] as number) < pivot) right -= 1;
      if (left > right) break;
      const moved = values[left] as number;
      values[left] = values[right] as number;
      values[right] = moved;
      left += 1;
      right -= 1;
    }
    if (wanted <= right) high = right;
    else if (wanted >= left) low = left;
    else break;
  }
  return values[wanted] as number;
}
