import { createSizedCache, type SizedCache } from "../../../kernel/runtime/sized-cache.ts";
import { field, fieldCount } from "../language/fields.ts";
import type { Language } from "../language.ts";
import type { SearchIndex } from "../index/merge.ts";
import { packed } from "../index/postings.ts";
import { bytesOfGroup, type Group, type Member } from "./query.ts";

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
 * the parts that it has 0 for. Without it, what a word adds is remembered: people ask in the same words.
 */
export function scoreGroups(index: SearchIndex, groups: readonly Group[], into: GroupScores, only?: Uint8Array): void {
  if (only === undefined) {
    const memory = memoryOf(index);
    for (const group of groups) addWord(memory.get(group) ?? learnWord(index, group, memory), group, into);
    return;
  }
  const scratch = scratchOf(index);
  for (const group of groups) {
    scoreMembers(index, group, scratch, only);
    addWord(takeWord(index, group, scratch), group, into);
  }
}

/** What one word of a query adds to the tools that have anything of it. */
interface WordScores {
  readonly tools: Uint16Array | Uint32Array;
  readonly values: Float64Array;
}

function addWord({ tools, values }: WordScores, { full }: Group, { scores, matched }: GroupScores): void {
  for (let at = 0; at < values.length; at += 1) {
    const tool = tools[at] as number;
    const value = values[at] as number;
    scores[tool] = (scores[tool] as number) + value;
    matched[tool] = (matched[tool] as number) + (value < full ? value : full);
  }
}

/**
 * Bytes that words of queries may take up with what they add to the tools of an index: the 340 different words of a
 * hundred questions in ten thousand tools, or a thousand words in some hundred tools.
 */
export const memoryBytes = 4 * 2 ** 20;
/** What remembering a word takes beside its numbers and its group, which may live for this alone; about. */
const wordBytes = 600;

/** Of all indexes that are made with one language, which is to say of one gateway; those used last. */
type WordMemory = SizedCache<Group, WordScores>;
const memories = new WeakMap<Language, WordMemory>();

function memoryOf({ language }: SearchIndex): WordMemory {
  let memory = memories.get(language);
  if (memory === undefined) memories.set(language, (memory = createSizedCache(memoryBytes)));
  return memory;
}

function learnWord(index: SearchIndex, group: Group, memory: WordMemory): WordScores {
  const scratch = scratchOf(index);
  scoreMembers(index, group, scratch, undefined);
  const word = takeWord(index, group, scratch);
  memory.set(group, word, word.tools.byteLength + word.values.byteLength + wordBytes + bytesOfGroup(group));
  return word;
}

/** What the members have added up to, and clears it. */
function takeWord({ toolCount, language }: SearchIndex, { weight }: Group, scratch: Scratch): WordScores {
  const { touched, best, sum, touchedCount } = scratch;
  const { also } = language.weights;
  const tools = new (toolCount <= 0x10000 ? Uint16Array : Uint32Array)(touchedCount);
  const values = new Float64Array(touchedCount);
  for (let at = 0; at < touchedCount; at += 1) {
    const tool = touched[at] as number;
    const most = best[tool] as number;
    tools[at] = tool;
    values[at] = weight * (most + also * ((sum[tool] as number) - most));
    best[tool] = 0;
    sum[tool] = 0;
  }
  scratch.touchedCount = 0;
  return { tools, values };
}

function scoreMembers(index: SearchIndex, { scored }: Group, scratch: Scratch, only: Uint8Array | undefined): void {
  for (const member of scored) scoreMember(index, member, scratch, only);
}

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
  const { mention, postings } = index;
  const { sum, mentions, seen } = scratch;
  const { relatedInPhrases } = index.language.weights;
  const isLiteral = member.weight === 1;
  const isCompanion = member.isCompanion === true;
  for (let place = from; place < to; place += 1) {
    const posting = postings[place] as number;
    const at = packed.field(posting);
    if (!isLiteral && at >= field.parameters && at <= field.enums) continue;
    const tool = packed.tool(posting);
    if (isCompanion && sum[tool] === 0) continue;
    const before = mentions[tool] as number;
    if (before === 0) {
      seen[scratch.seenCount] = tool;
      scratch.seenCount += 1;
    }
    const count = packed.count(posting) * (mention[tool * fieldCount + at] as number);
    mentions[tool] = before + (isLiteral || at !== field.phrases ? count : relatedInPhrases * count);
  }
}
