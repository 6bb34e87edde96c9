import type { IndexPart } from "./index-part.ts";
import type { SearchIndex } from "./merge.ts";

/** Adds to tools in whose name, description or server neighbours of the query are neighbours too. */
export function addPhrases(index: SearchIndex, stems: readonly string[], scores: Float64Array): void {
  const done = new Set<string>();
  for (let at = 0; at + 1 < stems.length; at += 1) {
    const left = index.terms.get(stems[at] as string);
    const right = index.terms.get(stems[at + 1] as string);
    const pair = `${left} ${right}`;
    if (left === undefined || right === undefined || left === right || done.has(pair)) continue;
    done.add(pair);
    const found = toolsWithPair(index, left, right);
    const value = index.language.weights.phrase * Math.log(1 + index.toolCount / Math.max(1, found.size));
    for (const [tool, share] of found) scores[tool] = (scores[tool] as number) + share * value;
  }
}

/** Tools that have the pair: 1 when in the name, 0.5 elsewhere. */
function toolsWithPair(index: SearchIndex, left: number, right: number): Map<number, number> {
  const found = new Map<number, number>();
  let a = index.refStart[left] as number;
  let b = index.refStart[right] as number;
  while (a < (index.refStart[left + 1] as number) && b < (index.refStart[right + 1] as number)) {
    const number = index.refPart[a] as number;
    const other = index.refPart[b] as number;
    if (number === other) {
      const first = index.firstTool[number] as number;
      findInPart(
        index.parts[number] as IndexPart,
        index.refTerm[a] as number,
        index.refTerm[b] as number,
        (tool, share) => found.set(first + tool, share),
      );
    }
    if (number <= other) a += 1;
    if (other <= number) b += 1;
  }
  return found;
}

function findInPart(part: IndexPart, left: number, right: number, report: (tool: number, share: number) => void): void {
  const pair: Pair = [left, right];
  const inServer = hasPair(part.serverSequence, 0, part.serverSequence.length, pair);
  const rarer = (part.toolFrequency[left] as number) <= (part.toolFrequency[right] as number) ? left : right;
  let last = -1;
  const end = part.termStart[rarer + 1] as number;
  for (let posting = part.termStart[rarer] as number; posting < end; posting += 1) {
    const tool = part.postingTool[posting] as number;
    if (tool === last) continue;
    last = tool;
    const name = part.sequenceStart[2 * tool] as number;
    const description = part.sequenceStart[2 * tool + 1] as number;
    const stop = part.sequenceStart[2 * tool + 2] as number;
    if (hasPair(part.sequence, name, description, pair)) report(tool, 1);
    else if (inServer || hasPair(part.sequence, description, stop, pair)) report(tool, 0.5);
  }
}

type Pair = readonly [left: number, right: number];

function hasPair(sequence: Uint32Array, from: number, to: number, [left, right]: Pair): boolean {
  for (let at = from; at + 1 < to; at += 1) if (sequence[at] === left && sequence[at + 1] === right) return true;
  return false;
}
