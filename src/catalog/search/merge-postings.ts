import { fieldCount } from "./fields.ts";
import type { IndexPart } from "./index-part.ts";
import type { SearchIndex } from "./merge.ts";

type MergedPostings = Pick<SearchIndex, "refPosting" | "postingTool" | "postingField">;

/** Of so many places a step looks at once: a millisecond. */
const stepSize = 2_000;

/**
 * The postings of all parts, term by term. A search reads them one after the other; in the parts each term of each part
 * would be somewhere else in memory, which took most of the time of a search in a large catalog. 5 bytes each.
 */
export function* mergePostings({
  parts,
  firstTool,
  refPart,
  refTerm,
}: Pick<SearchIndex, "parts" | "firstTool" | "refPart" | "refTerm">): Generator<undefined, MergedPostings> {
  const count = parts.reduce((sum, part) => sum + part.postingTool.length, 0);
  const refPosting = new Uint32Array(refPart.length + 1);
  const postingTool = new Uint32Array(count);
  const postingField = new Uint8Array(count);
  let at = 0;
  for (let ref = 0; ref < refPart.length; ref += 1) {
    if (ref % stepSize === 0) yield;
    const number = refPart[ref] as number;
    const part = parts[number] as IndexPart;
    const first = firstTool[number] as number;
    const local = refTerm[ref] as number;
    const end = part.termStart[local + 1] as number;
    for (let posting = part.termStart[local] as number; posting < end; posting += 1) {
      postingTool[at] = first + (part.postingTool[posting] as number);
      postingField[at] = part.postingField[posting] as number;
      at += 1;
    }
    refPosting[ref + 1] = at;
  }
  return { refPosting, postingTool, postingField };
}

/** Rounding to 32 bits must not make a bound too small. */
const roundedUp = 1 + 2 ** -20;

/** See `SearchIndex.refMost`. */
export function* mostOfPlaces(
  { refPosting, postingTool, postingField, mention }: MergedPostings & Pick<SearchIndex, "mention">,
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
