import { fieldCount } from "../language/fields.ts";
import type { IndexPart } from "./index-part.ts";
import { packed } from "./postings.ts";
import { grown } from "../language/stem-table.ts";

/** Where the terms of several parts occur. */
export interface MergedPostings {
  /** Where global term t occurs: parts and their own numbers from `refStart[t]` to `refStart[t + 1]`, by part. */
  readonly refStart: Uint32Array;
  readonly refPart: Uint32Array;
  readonly refTerm: Uint32Array;
  /**
   * Postings of the place r: from `refPosting[r]` to `refPosting[r + 1]`, so that those of a term follow each other.
   */
  readonly refPosting: Uint32Array;
  /** As in a part (`packed`), with the numbers that tools have in the index. */
  readonly postings: Uint32Array;
  /** By place: see the index. Undefined where it was not asked for. */
  readonly refMost: Float32Array | undefined;
}

/** Parts that a step looks at: a millisecond. */
const partsInStep = 20;
/** Rounding to 32 bits must not make a bound too small. */
const roundedUp = 1 + 2 ** -20;

export interface PostingSources {
  readonly parts: readonly IndexPart[];
  readonly firstTool: Uint32Array;
  readonly numbered: NumberedTerms;
  /** What one mention counts, `tool * fieldCount + field`. */
  readonly mention: Float32Array;
  /** Saturation (`k1`), where it shall be said what a tool of each place can score at most. */
  readonly saturation: number | undefined;
}

/**
 * The postings of all parts, term by term. A search reads them one after the other; in the parts each term of each part
 * would be somewhere else in memory, which took most of the time of a search in a large catalog. For the same reason
 * they are put together part by part, each part once: every term writes on where it wrote last. 4 bytes each.
 */
export function* mergePostings(sources: PostingSources): Generator<undefined, MergedPostings> {
  const { parts, firstTool, numbered, mention, saturation } = sources;
  const { globals, refCount, postingCount } = numbered;
  const refStart = startsOf(refCount);
  const postingStart = startsOf(postingCount);
  const count = postingStart[postingCount.length] as number;
  // Beside each other, because they are needed together and terms come in any order.
  const next = interleaved(refStart, postingStart);
  yield;
  const { refPart, refTerm, refPosting, refMost, postings } = arraysFor(
    globals.length,
    count,
    saturation !== undefined,
  );
  yield;
  refPosting[globals.length] = count;
  let before = 0;
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    const first = firstTool[number] as number;
    const { memory, termCount, termStart } = part;
    for (let local = 0; local < termCount; local += 1) {
      const global = globals[before + local] as number;
      const place = next[2 * global] as number;
      next[2 * global] = place + 1;
      refPart[place] = number;
      refTerm[place] = local;
      let at = next[2 * global + 1] as number;
      refPosting[place] = at;
      const end = memory[termStart + local + 1] as number;
      for (let posting = memory[termStart + local] as number; posting < end; posting += 1) {
        postings[at] = (memory[posting] as number) + first * 256;
        at += 1;
      }
      next[2 * global + 1] = at;
      if (refMost === undefined || saturation === undefined) continue;
      const most = mostMentions(part, local, mention, first);
      refMost[place] = (most / (saturation + most)) * roundedUp;
    }
    before += termCount;
  }
  return { refStart, refPart, refTerm, refPosting, postings, refMost };
}

type Arrays = Omit<MergedPostings, "refStart">;

/**
 * In one piece of memory: in a large catalog these are sixty megabytes, and the collector does some milliseconds of its
 * work each time that so much is asked for.
 */
function arraysFor(places: number, postings: number, isBounded: boolean): Arrays {
  const memory = new ArrayBuffer(4 * ((isBounded ? 4 : 3) * places + 1 + postings));
  let used = 0;
  const next = (count: number): Uint32Array => {
    const array = new Uint32Array(memory, used, count);
    used += array.byteLength;
    return array;
  };
  return {
    refPart: next(places),
    refTerm: next(places),
    refPosting: next(places + 1),
    postings: next(postings),
    refMost: isBounded ? new Float32Array(memory, used, places) : undefined,
  };
}

function interleaved(first: Uint32Array, second: Uint32Array): Uint32Array {
  const both = new Uint32Array(2 * first.length);
  for (let at = 0; at < first.length; at += 1) {
    both[2 * at] = first[at] as number;
    both[2 * at + 1] = second[at] as number;
  }
  return both;
}

/** The most that a tool of the part mentions a term; `first` is the number of its first tool. */
function mostMentions({ memory, termStart }: IndexPart, local: number, mention: Float32Array, first: number): number {
  const end = memory[termStart + local + 1] as number;
  let most = 0;
  let sum = 0;
  let last = -1;
  for (let at = memory[termStart + local] as number; at < end; at += 1) {
    const posting = memory[at] as number;
    const tool = packed.tool(posting);
    if (tool !== last) sum = 0;
    last = tool;
    sum += packed.count(posting) * (mention[(first + tool) * fieldCount + packed.field(posting)] as number);
    if (sum > most) most = sum;
  }
  return most;
}

/** The terms of several parts together. */
interface NumberedTerms {
  /** Every stem of every part, by global number. */
  readonly terms: ReadonlyMap<string, number>;
  /** Of each part after the other: the global numbers of its own terms. */
  readonly globals: Uint32Array;
  /** In how many tools, and in how many parts, each term occurs, and how many postings it has. */
  readonly toolFrequency: Uint32Array;
  readonly refCount: Uint32Array;
  readonly postingCount: Uint32Array;
}

/** Numbers the terms of all parts together, and counts where each occurs. In steps: between them may be other work. */
export function* mergeTerms(parts: readonly IndexPart[]): Generator<undefined, NumberedTerms> {
  const terms = new Map<string, number>();
  let count = 0;
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    count += part.termCount;
  }
  const globals = new Uint32Array(count);
  let toolFrequency = new Int32Array(4_096);
  let refCount = new Int32Array(4_096);
  let postingCount = new Int32Array(4_096);
  let at = 0;
  const globalsOf = new Map<readonly string[], Int32Array>();
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    const { memory, termStart, termCount, toolFrequency: frequencies, terms: own, stems } = part;
    let globalOf = globalsOf.get(stems);
    if (globalOf === undefined) globalsOf.set(stems, (globalOf = new Int32Array(stems.length).fill(-1)));
    for (let local = 0; local < termCount; local += 1) {
      const stem = memory[own + local] as number;
      let global = globalOf[stem] as number;
      if (global < 0) {
        globalOf[stem] = global = numberOf(stems[stem] as string, terms);
        while (global >= refCount.length)
          [toolFrequency, refCount, postingCount] = [grown(toolFrequency), grown(refCount), grown(postingCount)];
      }
      globals[at] = global;
      at += 1;
      toolFrequency[global] = (toolFrequency[global] as number) + (memory[frequencies + local] as number);
      refCount[global] = (refCount[global] as number) + 1;
      postingCount[global] =
        (postingCount[global] as number) +
        (memory[termStart + local + 1] as number) -
        (memory[termStart + local] as number);
    }
  }
  const counted = (counts: Int32Array): Uint32Array => new Uint32Array(counts.subarray(0, terms.size));
  return {
    terms,
    globals,
    toolFrequency: counted(toolFrequency),
    refCount: counted(refCount),
    postingCount: counted(postingCount),
  };
}

/** Known, or the next one. */
function numberOf(term: string, terms: Map<string, number>): number {
  let number = terms.get(term);
  if (number === undefined) terms.set(term, (number = terms.size));
  return number;
}

/** Where each of so many rows begins, when they follow each other; one more entry for the end. */
export function startsOf(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at += 1) starts[at + 1] = (starts[at] as number) + (counts[at] as number);
  return starts;
}
