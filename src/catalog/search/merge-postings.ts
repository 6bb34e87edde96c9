import { fieldCount } from "./fields.ts";
import type { IndexPart } from "./index-part.ts";
import { startsOf, type NumberedTerms } from "./merge-terms.ts";

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
  readonly postingTool: Uint32Array;
  /** Field number in the high four bits, count in the low four. */
  readonly postingField: Uint8Array;
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
 * they are put together part by part, each part once: every term writes on where it wrote last. 5 bytes each.
 */
export function* mergePostings(sources: PostingSources): Generator<undefined, MergedPostings> {
  const { parts, firstTool, numbered, mention, saturation } = sources;
  const { globals, refCount, postingCount } = numbered;
  const refStart = startsOf(refCount);
  const nextRef = refStart.slice();
  const nextPosting = startsOf(postingCount);
  const count = nextPosting[postingCount.length] as number;
  // Each of these has some megabytes in a large catalog, and getting them takes milliseconds.
  yield;
  const refPart = new Uint32Array(globals.length);
  yield;
  const refTerm = new Uint32Array(globals.length);
  yield;
  const refPosting = new Uint32Array(globals.length + 1);
  yield;
  const refMost = saturation === undefined ? undefined : new Float32Array(globals.length);
  yield;
  const postingTool = new Uint32Array(count);
  yield;
  const postingField = new Uint8Array(count);
  refPosting[globals.length] = count;
  let before = 0;
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    const first = firstTool[number] as number;
    for (let local = 0; local < part.terms.length; local += 1) {
      const global = globals[before + local] as number;
      const place = nextRef[global] as number;
      nextRef[global] = place + 1;
      refPart[place] = number;
      refTerm[place] = local;
      let at = nextPosting[global] as number;
      refPosting[place] = at;
      const end = part.termStart[local + 1] as number;
      for (let posting = part.termStart[local] as number; posting < end; posting += 1) {
        postingTool[at] = first + (part.postingTool[posting] as number);
        postingField[at] = part.postingField[posting] as number;
        at += 1;
      }
      nextPosting[global] = at;
      if (refMost === undefined || saturation === undefined) continue;
      const most = mostMentions(part, local, mention, first);
      refMost[place] = (most / (saturation + most)) * roundedUp;
    }
    before += part.terms.length;
  }
  return { refStart, refPart, refTerm, refPosting, postingTool, postingField, refMost };
}

/** The most that a tool of the part mentions a term; `first` is the number of its first tool. */
function mostMentions(
  { termStart, postingTool, postingField }: IndexPart,
  local: number,
  mention: Float32Array,
  first: number,
): number {
  const end = termStart[local + 1] as number;
  let most = 0;
  let sum = 0;
  let last = -1;
  for (let posting = termStart[local] as number; posting < end; posting += 1) {
    const tool = postingTool[posting] as number;
    const packed = postingField[posting] as number;
    if (tool !== last) sum = 0;
    last = tool;
    sum += (packed & 15) * (mention[(first + tool) * fieldCount + (packed >> 4)] as number);
    if (sum > most) most = sum;
  }
  return most;
}
