import type { ToolEntry } from "../model/snapshot.ts";
import { toolAt, type SearchIndex } from "./merge.ts";

/** Words of past queries that led to tools of one index, as one more field. Immutable. */
export interface LearnedField {
  /** By stem: the tools that it led to, and what its mentions count there. */
  readonly postings: ReadonlyMap<string, readonly LearnedPosting[]>;
}

export interface LearnedPosting {
  readonly tool: number;
  readonly mentions: number;
}

/** `stemsOf` gives every stem of every past query of a tool, repeated as often as it occurred; undefined when there is none. */
export function buildLearnedField(
  index: SearchIndex,
  stemsOf: (tool: ToolEntry) => readonly string[] | undefined,
): LearnedField {
  const taught: { readonly tool: number; readonly stems: readonly string[] }[] = [];
  let total = 0;
  for (let tool = 0; tool < index.toolCount; tool += 1) {
    const stems = stemsOf(toolAt(index, tool));
    if (stems === undefined || stems.length === 0) continue;
    taught.push({ tool, stems });
    total += stems.length;
  }
  const mean = total / Math.max(1, taught.length);
  const postings = new Map<string, LearnedPosting[]>();
  for (const { tool, stems } of taught) addTool(postings, tool, stems, index.language.weights.learned, mean);
  return { postings };
}

function addTool(
  postings: Map<string, LearnedPosting[]>,
  tool: number,
  stems: readonly string[],
  { weight, b }: { readonly weight: number; readonly b: number },
  mean: number,
): void {
  const counts = new Map<string, number>();
  for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const one = weight / (1 - b + (b * stems.length) / mean);
  for (const [stem, count] of counts) {
    const posting = { tool, mentions: one * count };
    const list = postings.get(stem);
    if (list === undefined) postings.set(stem, [posting]);
    else list.push(posting);
  }
}
