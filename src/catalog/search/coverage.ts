import type { IndexPart } from "./index-part.ts";
import type { SearchIndex } from "./merge.ts";
import type { QueryPlan } from "./query.ts";

/** How well a query covers the names of tools: 0 not at all, 1 when every word of the name is asked for. */
export type NameCoverage = (tool: number) => number;

/** The share of a name's words, weighted by rarity, that the query has or means. */
export function nameCoverage(index: SearchIndex, plan: QueryPlan): NameCoverage {
  const asked = new Map<number, number>();
  for (const group of plan.groups) {
    for (const { term, weight } of group.members)
      asked.set(term, Math.max(asked.get(term) ?? 0, weight * group.weight));
  }
  return (tool) => {
    let total = 0;
    let covered = 0;
    for (const term of nameTerms(index, tool)) {
      const rarity = index.rarity[term] as number;
      total += rarity;
      covered += rarity * (asked.get(term) ?? 0);
    }
    return total === 0 ? 0 : covered / total;
  };
}

const known = new WeakMap<SearchIndex, (Uint32Array | undefined)[]>();

/** The words of a tool's name by their numbers in the whole index; looked up once. */
function nameTerms(index: SearchIndex, tool: number): Uint32Array {
  let ofTools = known.get(index);
  if (ofTools === undefined) known.set(index, (ofTools = []));
  let terms = ofTools[tool];
  if (terms === undefined) ofTools[tool] = terms = lookUp(index, tool);
  return terms;
}

function lookUp(index: SearchIndex, tool: number): Uint32Array {
  const number = index.partOf[tool] as number;
  const part = index.parts[number] as IndexPart;
  const local = tool - (index.firstTool[number] as number);
  const name = part.sequence.subarray(part.sequenceStart[2 * local], part.sequenceStart[2 * local + 1]);
  return name.map((term) => index.terms.get(part.terms[term] as string) as number);
}
