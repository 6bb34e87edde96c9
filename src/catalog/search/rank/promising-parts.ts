import { bestOf } from "./top-k.ts";
import type { SearchIndex } from "../index/merge.ts";
import type { Phrase } from "../phrases.ts";
import type { Group, Member } from "./query.ts";

/**
 * Upper bound of the score of every tool in a part; undefined where the index knows no bounds. A search of a large
 * catalog looks only at parts that may hold one of the best tools: they are found in the order of all, and exactly so.
 * The same sums as in `score.ts`, made with the most that a term counts in a part in place of what it counts in a tool.
 */
export function boundsOfParts(
  index: SearchIndex,
  groups: readonly Group[],
  phrases: readonly Phrase[],
): Float64Array | undefined {
  if (index.refMost === undefined) return undefined;
  const size = index.parts.length;
  const bounds = new Float64Array(size);
  const scratch = {
    best: new Float64Array(size),
    sum: new Float64Array(size),
    touched: new Uint32Array(size),
    count: 0,
  };
  const { also } = index.language.weights;
  for (const group of groups) {
    for (const member of group.scored) addMost(index, index.refMost, member, scratch);
    for (let at = 0; at < scratch.count; at += 1) {
      const part = scratch.touched[at] as number;
      const best = scratch.best[part] as number;
      const most = group.weight * (best + also * ((scratch.sum[part] as number) - best));
      bounds[part] = (bounds[part] as number) + most;
      scratch.best[part] = 0;
      scratch.sum[part] = 0;
    }
    scratch.count = 0;
  }
  for (const phrase of phrases) addPhrase(index, phrase, bounds);
  return bounds;
}

/** The parts with the highest bounds. */
export function promising(bounds: Float64Array, count: number): Uint8Array {
  const chosen = new Uint8Array(bounds.length);
  for (const { tool: part } of bestOf(bounds, count)) chosen[part] = 1;
  return chosen;
}

/** The parts in which a tool may score `least` or more, without those that were looked at `before`. */
export function atLeast(bounds: Float64Array, least: number, before: Uint8Array): Uint8Array {
  const chosen = new Uint8Array(bounds.length);
  for (let part = 0; part < bounds.length; part += 1)
    if (before[part] === 0 && (bounds[part] as number) * tolerance >= least) chosen[part] = 1;
  return chosen;
}

/** The sums are made in another order than those of the tools: the last digits differ. */
const tolerance = 1 + 1e-9;

interface Scratch {
  readonly best: Float64Array;
  readonly sum: Float64Array;
  readonly touched: Uint32Array;
  count: number;
}

function addMost(index: SearchIndex, refMost: Float32Array, member: Member, scratch: Scratch): void {
  const { best, sum, touched } = scratch;
  const { refPart, refStart, language } = index;
  const full = member.weight * member.rarity * (language.weights.k1 + 1);
  const isCompanion = member.isCompanion === true;
  const end = refStart[member.term + 1] as number;
  for (let ref = refStart[member.term] as number; ref < end; ref += 1) {
    const part = refPart[ref] as number;
    const before = sum[part] as number;
    if (before === 0) {
      if (isCompanion) continue;
      touched[scratch.count] = part;
      scratch.count += 1;
    }
    const value = full * (refMost[ref] as number);
    sum[part] = before + value;
    if (value > (best[part] as number)) best[part] = value;
  }
}

/** In the order of the tools, so that each part counts a phrase once. */
function addPhrase(index: SearchIndex, { value, shares }: Phrase, bounds: Float64Array): void {
  let last = -1;
  for (const tool of shares.keys()) {
    const part = index.partOf[tool] as number;
    if (part === last) continue;
    last = part;
    bounds[part] = (bounds[part] as number) + value;
  }
}
