import { fieldCount } from "./fields.ts";
import type { IndexPart } from "./index-part.ts";

/** The postings of several parts. */
export interface MergedPostings {
  /**
   * Postings of the place r: from `refPosting[r]` to `refPosting[r + 1]`, so that those of a term follow each other.
   */
  readonly refPosting: Uint32Array;
  readonly postingTool: Uint32Array;
  /** Field number in the high four bits, count in the low four. */
  readonly postingField: Uint8Array;
}

/** Of so many places, or parts, a step looks at once: a millisecond. */
const stepSize = 5_000;
const partsInStep = 50;

interface PostingSources {
  readonly parts: readonly IndexPart[];
  readonly firstTool: Uint32Array;
  readonly places: readonly Uint32Array[];
}

/**
 * The postings of all parts, term by term. A search reads them one after the other; in the parts each term of each part
 * would be somewhere else in memory, which took most of the time of a search in a large catalog. For the same reason
 * they are put together part by part. 5 bytes each.
 */
export function* mergePostings({ parts, firstTool, places }: PostingSources): Generator<undefined, MergedPostings> {
  const refPosting = yield* countPostings(parts, places);
  const count = refPosting[refPosting.length - 1] as number;
  const postingTool = new Uint32Array(count);
  const postingField = new Uint8Array(count);
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    const first = firstTool[number] as number;
    const own = places[number] as Uint32Array;
    for (let local = 0; local < own.length; local += 1) {
      let at = refPosting[own[local] as number] as number;
      const end = part.termStart[local + 1] as number;
      for (let posting = part.termStart[local] as number; posting < end; posting += 1) {
        postingTool[at] = first + (part.postingTool[posting] as number);
        postingField[at] = part.postingField[posting] as number;
        at += 1;
      }
    }
  }
  return { refPosting, postingTool, postingField };
}

function* countPostings(
  parts: readonly IndexPart[],
  places: readonly Uint32Array[],
): Generator<undefined, Uint32Array> {
  const refPosting = new Uint32Array(places.reduce((sum, own) => sum + own.length, 1));
  for (const [number, { termStart }] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    const own = places[number] as Uint32Array;
    for (let local = 0; local < own.length; local += 1)
      refPosting[(own[local] as number) + 1] = (termStart[local + 1] as number) - (termStart[local] as number);
  }
  for (let ref = 1; ref < refPosting.length; ref += 1) {
    if (ref % stepSize === 0) yield;
    refPosting[ref] = (refPosting[ref] as number) + (refPosting[ref - 1] as number);
  }
  return refPosting;
}

/** Rounding to 32 bits must not make a bound too small. */
const roundedUp = 1 + 2 ** -20;

/** See `refMost` of the index. */
export function* mostOfPlaces(
  { refPosting, postingTool, postingField, mention }: MergedPostings & { readonly mention: Float32Array },
  k1: number,
): Generator<undefined, Float32Array> {
  const most = new Float32Array(refPosting.length - 1);
  for (let ref = 0; ref < most.length; ref += 1) {
    if (ref % stepSize === 0) yield;
    const end = refPosting[ref + 1] as number;
    let mentions = 0;
    let sum = 0;
    let last = -1;
    for (let posting = refPosting[ref] as number; posting < end; posting += 1) {
      const tool = postingTool[posting] as number;
      const packed = postingField[posting] as number;
      if (tool !== last) sum = 0;
      last = tool;
      sum += (packed & 15) * (mention[tool * fieldCount + (packed >> 4)] as number);
      if (sum > mentions) mentions = sum;
    }
    most[ref] = (mentions / (k1 + mentions)) * roundedUp;
  }
  return most;
}
