import { field, fieldCount } from "./fields.ts";
import type { SearchIndex } from "./merge.ts";
import type { Group, Member } from "./query.ts";

export interface GroupScores {
  /** BM25F by tool number; 0 where no word of the query occurs. */
  readonly scores: Float64Array;
  /** How much of the query's words each tool has, in the same unit as `Group.full`. */
  readonly matched: Float64Array;
}

/**
 * Nothing scored yet. Good until the next search of the same index: they never overlap, and all use the same memory.
 */
export function emptyScores(index: SearchIndex): GroupScores {
  const { scores, matched } = scratchOf(index);
  scores.fill(0);
  matched.fill(0);
  return { scores, matched };
}

/**
 * BM25F over all fields, added to `scored`. Each group counts its best member and a part of what the others say: a tool
 * that is called "weather forecast" answers "umbrella" better than one that only mentions weather. `only` leaves out
 * the
 * parts that it has 0 for.
 */
export function scoreGroups(
  index: SearchIndex,
  groups: readonly Group[],
  { scores, matched }: GroupScores,
  only?: Uint8Array,
): void {
  const scratch = scratchOf(index);
  const { also } = index.language.weights;
  for (const group of groups) {
    for (const member of group.members) if (isWorth(member, group)) scoreMember(index, member, scratch, only);
    for (let at = 0; at < scratch.touchedCount; at += 1) {
      const tool = scratch.touched[at] as number;
      const best = scratch.best[tool] as number;
      const value = group.weight * (best + also * ((scratch.sum[tool] as number) - best));
      scores[tool] = (scores[tool] as number) + value;
      matched[tool] = (matched[tool] as number) + Math.min(group.full, value);
      scratch.best[tool] = 0;
      scratch.sum[tool] = 0;
    }
    scratch.touchedCount = 0;
  }
}

/** A related word that half of all tools have takes longest to look up and changes nothing. */
export function isWorth(member: Member, group: Group): boolean {
  return member.weight === 1 || member.weight * member.rarity * group.weight >= leastShare * group.full;
}
const leastShare = 0.1;

/** Per tool, and lists of the tools that are not zero, so that clearing takes no longer than filling. */
interface Scratch extends GroupScores {
  readonly best: Float64Array;
  readonly sum: Float64Array;
  readonly touched: Uint32Array;
  touchedCount: number;
  readonly mentions: Float64Array;
  readonly seen: Uint32Array;
  seenCount: number;
}

/** Zero between two searches, which never overlap, but for the scores: 48 bytes per tool, made once. */
const scratches = new WeakMap<SearchIndex, Scratch>();

function scratchOf(index: SearchIndex): Scratch {
  let scratch = scratches.get(index);
  if (scratch === undefined) scratches.set(index, (scratch = createScratch(index.toolCount)));
  return scratch;
}

function createScratch(size: number): Scratch {
  const numbers = (): Float64Array => new Float64Array(size);
  return {
    scores: numbers(),
    matched: numbers(),
    best: numbers(),
    sum: numbers(),
    touched: new Uint32Array(size),
    touchedCount: 0,
    mentions: numbers(),
    seen: new Uint32Array(size),
    seenCount: 0,
  };
}

function scoreMember(index: SearchIndex, member: Member, scratch: Scratch, only: Uint8Array | undefined): void {
  const { best, sum, mentions, touched, seen } = scratch;
  addIndexed(index, member, scratch, only);
  const { k1 } = index.language.weights;
  const full = member.weight * member.rarity * (k1 + 1);
  for (let at = 0; at < scratch.seenCount; at += 1) {
    const tool = seen[at] as number;
    const count = mentions[tool] as number;
    const value = (full * count) / (k1 + count);
    mentions[tool] = 0;
    if (sum[tool] === 0) {
      touched[scratch.touchedCount] = tool;
      scratch.touchedCount += 1;
    }
    sum[tool] = (sum[tool] as number) + value;
    if (value > (best[tool] as number)) best[tool] = value;
  }
  scratch.seenCount = 0;
}

function addIndexed(index: SearchIndex, member: Member, scratch: Scratch, only: Uint8Array | undefined): void {
  const { refPart, refPosting } = index;
  const first = index.refStart[member.term] as number;
  const last = index.refStart[member.term + 1] as number;
  if (only === undefined) {
    addPostings(index, member, scratch, { from: refPosting[first] as number, to: refPosting[last] as number });
    return;
  }
  // Places that follow each other are read at once.
  let start = first;
  for (let ref = first; ref <= last; ref += 1) {
    if (ref < last && only[refPart[ref] as number] === 1) continue;
    if (start < ref)
      addPostings(index, member, scratch, { from: refPosting[start] as number, to: refPosting[ref] as number });
    start = ref + 1;
  }
}

/**
 * Related words do not count in parameters, because a parameter called `text` makes no tool a messenger, and less in
 * phrases, which are written in people's words already.
 */
function addPostings(
  index: SearchIndex,
  member: Member,
  scratch: Scratch,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const { mention, postingTool, postingField } = index;
  const { sum, mentions, seen } = scratch;
  const { relatedInPhrases } = index.language.weights;
  const isLiteral = member.weight === 1;
  const isCompanion = member.isCompanion === true;
  for (let posting = from; posting < to; posting += 1) {
    const packed = postingField[posting] as number;
    const at = packed >> 4;
    if (!isLiteral && at >= field.parameters && at <= field.enums) continue;
    const tool = postingTool[posting] as number;
    if (isCompanion && sum[tool] === 0) continue;
    const before = mentions[tool] as number;
    if (before === 0) {
      seen[scratch.seenCount] = tool;
      scratch.seenCount += 1;
    }
    const count = (packed & 15) * (mention[tool * fieldCount + at] as number);
    mentions[tool] = before + (isLiteral || at !== field.phrases ? count : relatedInPhrases * count);
  }
}
