import { field } from "./language/fields.ts";
import type { IndexPart } from "./index/index-part.ts";
import type { SearchIndex } from "./index/merge.ts";
import { packed } from "./index/postings.ts";

/** Two neighbours of a query, and the tools in which they are neighbours too. */
export interface Phrase {
  /** Their stems. */
  readonly left: string;
  readonly right: string;
  /** What it adds to a tool that has it in its name. */
  readonly value: number;
  /** By tool: 1 when in the name, 0.5 when in description or server. */
  readonly shares: ReadonlyMap<number, number>;
}

/** All of a query, each pair once. */
export function findPhrases(index: SearchIndex, stems: readonly string[]): Phrase[] {
  const phrases: Phrase[] = [];
  const done = new Set<string>();
  for (let at = 0; at + 1 < stems.length; at += 1) {
    const left = stems[at] as string;
    const right = stems[at + 1] as string;
    const first = index.terms.get(left);
    const second = index.terms.get(right);
    const pair = `${first} ${second}`;
    if (first === undefined || second === undefined || first === second || done.has(pair)) continue;
    done.add(pair);
    const shares = toolsWithPair(index, first, second);
    const value = index.language.weights.phrase * Math.log(1 + index.toolCount / Math.max(1, shares.size));
    if (shares.size > 0) phrases.push({ left, right, value, shares });
  }
  return phrases;
}

/** Adds what phrases count to the tools that have them; `only` leaves out the parts that it has 0 for. */
export function addPhrases(
  { partOf }: Pick<SearchIndex, "partOf">,
  phrases: readonly Phrase[],
  scores: Float64Array,
  only?: Uint8Array,
): void {
  for (const { value, shares } of phrases)
    for (const [tool, share] of shares)
      if (only === undefined || only[partOf[tool] as number] === 1)
        scores[tool] = (scores[tool] as number) + share * value;
}

/** Tools that have the pair: 1 when in the name, 0.5 elsewhere. */
function toolsWithPair(index: SearchIndex, left: number, right: number): Map<number, number> {
  const found = new Map<number, number>();
  let a = index.refStart[left] as number;
  let b = index.refStart[right] as number;
  while (a < (index.refStart[left + 1] as number) && b < (index.refStart[right + 1] as number)) {
    const number = index.refPart[a] as number;
    const other = index.refPart[b] as number;
    if (number === other) findInPart(index, a, b, found);
    if (number <= other) a += 1;
    if (other <= number) b += 1;
  }
  return found;
}

/** Fields whose words are kept in order. */
const orderedFields = (1 << field.name) | (1 << field.server) | (1 << field.description);

/** `a` and `b` are the places of the two words in one part. Only tools that have both in one field are looked at. */
function findInPart(index: SearchIndex, a: number, b: number, found: Map<number, number>): void {
  const { refPosting, postings, refTerm } = index;
  const endA = refPosting[a + 1] as number;
  const endB = refPosting[b + 1] as number;
  const pair: Pair = [refTerm[a] as number, refTerm[b] as number];
  let atA = refPosting[a] as number;
  let atB = refPosting[b] as number;
  while (atA < endA && atB < endB) {
    const tool = packed.tool(postings[atA] as number);
    const other = packed.tool(postings[atB] as number);
    if (tool === other && (fieldsOf(postings, atA, endA) & fieldsOf(postings, atB, endB) & orderedFields) !== 0) {
      const share = shareOf(index, tool, pair);
      if (share > 0) found.set(tool, share);
    }
    if (tool <= other) atA = nextTool(postings, atA, endA);
    if (other <= tool) atB = nextTool(postings, atB, endB);
  }
}

/** The fields of one tool that have a term, one bit each. */
function fieldsOf(postings: Uint32Array, from: number, end: number): number {
  const next = nextTool(postings, from, end);
  let fields = 0;
  for (let at = from; at < next; at += 1) fields |= 1 << packed.field(postings[at] as number);
  return fields;
}

function nextTool(postings: Uint32Array, from: number, end: number): number {
  const tool = packed.tool(postings[from] as number);
  let at = from + 1;
  while (at < end && packed.tool(postings[at] as number) === tool) at += 1;
  return at;
}

function shareOf(index: SearchIndex, tool: number, pair: Pair): number {
  const number = index.partOf[tool] as number;
  const { tools, memory, sequenceStart, end } = index.parts[number] as IndexPart;
  const start = sequenceStart + 2 * (tool - (index.firstTool[number] as number));
  const description = memory[start + 1] as number;
  if (hasPair(memory, memory[start] as number, description, pair)) return 1;
  if (hasPair(memory, description, memory[start + 2] as number, pair)) return 0.5;
  return hasPair(memory, memory[sequenceStart + 2 * tools.length] as number, end, pair) ? 0.5 : 0;
}

type Pair = readonly [left: number, right: number];

function hasPair(sequence: Uint32Array, from: number, to: number, [left, right]: Pair): boolean {
  for (let at = from; at + 1 < to; at += 1) if (sequence[at] === left && sequence[at + 1] === right) return true;
  return false;
}
