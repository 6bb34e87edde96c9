import { toolAt, type SearchIndex } from "../index/merge.ts";
import { purposes, type Purpose } from "../language/verb-purpose.ts";

const unread = 0;
const none = 1;
const first = 2;

/** By tool: what its name says that it does, a byte each. */
const known = new WeakMap<SearchIndex, Uint8Array>();

/**
 * What the first verbs of tools' names do. A search asks this of two hundred tools, and neither their definitions nor
 * the memory of names is near at hand in a large catalog.
 */
export function purposesOf(index: SearchIndex): (tool: number) => Purpose | undefined {
  let ofTools = known.get(index);
  if (ofTools === undefined) known.set(index, (ofTools = new Uint8Array(index.toolCount)));
  const codes = ofTools;
  return (tool) => {
    const code = codes[tool] as number;
    return purposes[(code === unread ? (codes[tool] = readCode(index, tool)) : code) - first];
  };
}

function readCode(index: SearchIndex, tool: number): number {
  const purpose = index.language.purposes.ofName(toolAt(index, tool).definition.name);
  return purpose === undefined ? none : first + purposes.indexOf(purpose);
}
