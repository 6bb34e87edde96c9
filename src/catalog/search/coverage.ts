import type { IndexPart } from "./index-part.ts";
import type { SearchIndex } from "./merge.ts";
import type { QueryPlan } from "./query.ts";

/** How well a query covers the names of tools: 0 not at all, 1 when every word of the name is asked for. */
export type NameCoverage = (tool: number) => number;

/** The share of a name's words, weighted by rarity, that the query has or means. */
export function nameCoverage(index: SearchIndex, plan: QueryPlan): NameCoverage {
  const asked = new Map<string, number>();
  for (const group of plan.groups) {
    for (const member of group.members)
      asked.set(member.stem, Math.max(asked.get(member.stem) ?? 0, member.weight * group.weight));
  }
  return (tool) => {
    const number = index.partOf[tool] as number;
    const part = index.parts[number] as IndexPart;
    const local = tool - (index.firstTool[number] as number);
    let total = 0;
    let covered = 0;
    for (
      let at = part.sequenceStart[2 * local] as number;
      at < (part.sequenceStart[2 * local + 1] as number);
      at += 1
    ) {
      const stem = part.terms[part.sequence[at] as number] as string;
      const rarity = index.rarity[index.terms.get(stem) as number] as number;
      total += rarity;
      covered += rarity * (asked.get(stem) ?? 0);
    }
    return total === 0 ? 0 : covered / total;
  };
}
