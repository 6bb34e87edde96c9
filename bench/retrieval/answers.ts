import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { renderDiscover } from "../../src/catalog/exposure/discover/discover-answer.ts";
import type { DevQuery } from "./data.ts";
import { searchLexical } from "./engines.ts";

export interface AnswerCost {
  /** Tools in an answer, on the mean: a clear winner leaves fewer than ten. */
  readonly tools: number;
  /** o200k tokens of one answer in the default detail. */
  readonly median: number;
  readonly p90: number;
}

/** What a model pays for the answers to real queries, as the gateway writes them. */
export async function answerCost(queries: readonly DevQuery[], parts: readonly InstanceCatalog[]): Promise<AnswerCost> {
  const search = searchLexical(parts);
  const byServer = new Map(parts.map((part) => [part.server as string, part.tools]));
  const costs: number[] = [];
  let count = 0;
  for (const { query } of queries) {
    const { tools, total, match } = await search(query);
    const hits = tools.map(({ tool, distance }) => ({
      tool,
      distance,
      serverTitle: tool.server,
      transport: "stdio" as const,
    }));
    const text = renderDiscover({
      needs: [{ query, hits, match }],
      grouped: false,
      detail: "signature",
      totalFound: total,
      searchTimeMs: 1.5,
      toolsOf: (server) => byServer.get(server) ?? [],
    });
    costs.push(countTokens(text));
    count += tools.length;
  }
  costs.sort((a, b) => a - b);
  const at = (share: number): number => costs[Math.floor(share * (costs.length - 1))] ?? 0;
  return { tools: count / queries.length, median: at(0.5), p90: at(0.9) };
}
