import type { IndexPart } from "./index-part.ts";
import type { SearchIndex } from "./merge.ts";

/** A part's share of the stems that many parts have in common, for each of its terms. */
const stemBytes = 8;
/** A stem in the table of all: its entry, the string, and its trigrams. */
const termBytes = 120;
/** Per tool, made at the first search: places where scores are added up, and its purpose. */
const scratchBytes = 49;
/** What one small object or array costs beside its content. */
const objectBytes = 100;

/** What an index of one instance holds in memory, about. */
export function bytesOfPart(part: IndexPart): number {
  const { terms, termStart, postingTool, postingField, toolFrequency, lengths } = part;
  const { sequence, sequenceStart, serverSequence } = part;
  const arrays = [
    terms,
    termStart,
    postingTool,
    postingField,
    toolFrequency,
    lengths,
    sequence,
    sequenceStart,
    serverSequence,
  ];
  return arrays.reduce((sum, array) => sum + array.byteLength + objectBytes, part.terms.length * stemBytes);
}

/** What a merged index holds beside its parts, about. */
export function bytesOfIndex(index: SearchIndex): number {
  const { firstTool, partOf, serverOf, refStart, refPart, refTerm, refMost, rarity, mention, refPosting } = index;
  const { postingTool, postingField, nameStart, nameTerm } = index;
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
    postingTool,
    postingField,
    nameStart,
    nameTerm,
  ];
  return arrays.reduce(
    (sum, array) => sum + (array?.byteLength ?? 0),
    index.terms.size * termBytes + index.toolCount * scratchBytes,
  );
}
