import { toolAt, type SearchIndex } from "./merge.ts";
import { purposes, type Purpose } from "./verb-purpose.ts";

const unread = 0;
const none = 1;
const first = 2;

/** By tool: what its name says that it does, a byte each. */
const known = new WeakMap<SearchIndex, Uint8Array>();

/**
 * What the first verb of a tool's name does. A search asks this of two hundred tools, and neither their definitions nor
 * the memory of names is near at hand in a large catalog.
 */
export function purposeOf(index: SearchIndex, tool: number): Purpose | undefined {
  let ofTools = known.get(index);
  if (ofTools === undefined) known.set(index, (ofTools = new Uint8Array(index.toolCount)));
  let code = ofTools[tool] as number;
  if (code === unread) {
    const purpose = index.language.purposes.ofName(toolAt(index, tool).definition.name);
    ofTools[tool] = code = purpose === undefined ? none : first + purposes.indexOf(purpose);
  }
  return purposes[code - first];
}
