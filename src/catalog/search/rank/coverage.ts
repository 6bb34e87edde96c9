import type { SearchIndex } from "../index/merge.ts";
import type { QueryPlan } from "./query.ts";

/** How well a query covers the names of tools: 0 not at all, 1 when every word of the name is asked for. */
export type NameCoverage = (tool: number) => number;

/** Bytes that tell, by the last bits of a term's number, whether it may be asked for: nearly no word of a name is. */
const hintSize = 4_096;

/** The share of a name's words, weighted by rarity, that the query has or means. */
export function nameCoverage(index: SearchIndex, plan: QueryPlan): NameCoverage {
  const asked = new Map<number, number>();
  const mayBeAsked = new Uint8Array(hintSize);
  for (const group of plan.groups) {
    for (const { term, weight } of group.members) {
      asked.set(term, Math.max(asked.get(term) ?? 0, weight * group.weight));
      mayBeAsked[term % hintSize] = 1;
    }
  }
  const { nameStart, nameTerm, rarity } = index;
  return (tool) => {
    let total = 0;
    let covered = 0;
    const end = nameStart[tool + 1] as number;
    for (let at = nameStart[tool] as number; at < end; at += 1) {
      const term = nameTerm[at] as number;
      const says = rarity[term] as number;
      total += says;
      if (mayBeAsked[term % hintSize] === 1) covered += says * (asked.get(term) ?? 0);
    }
    return total === 0 ? 0 : covered / total;
  };
}
