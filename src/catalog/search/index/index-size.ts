import type { IndexPart } from "./index-part.ts";
import type { SearchIndex } from "./merge.ts";

/** A part's share of the stems that many parts have in common, for each of its terms. */
const stemBytes = 8;
/** A stem in the table of all: its entry, the string, and its trigrams. */
const termBytes = 120;
/** Per tool, made at the first search: places where scores are added up, and its purpose. */
const scratchBytes = 49;
/** What a part costs beside its numbers. */
const objectBytes = 200;

/** What an index of one instance holds in memory, about. */
export function bytesOfPart(part: IndexPart): number {
  return 4 * (part.end - part.termStart) + part.termCount * stemBytes + objectBytes;
}

/** What a merged index holds beside its parts, about. */
export function bytesOfIndex(index: SearchIndex): number {
  const { firstTool, partOf, serverOf, refStart, refPart, refTerm, refMost, rarity, mention, refPosting } = index;
  const { postings, nameStart, nameTerm } = index;
  const arrays = [
    firstTool,
    partOf,
    serverOf,
    refStart,
    refPart,
    refTerm,
    rarity,
    mention,
    refMost,
    refPosting,
    postings,
    nameStart,
    nameTerm,
  ];
  return arrays.reduce(
    (sum, array) => sum + (array?.byteLength ?? 0),
    index.terms.size * termBytes + index.toolCount * scratchBytes,
  );
}
