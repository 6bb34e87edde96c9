import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { ToolEntry } from "../../src/catalog/model/snapshot.ts";
import { renderDiscover } from "../../src/catalog/exposure/discover/discover-answer.ts";
import type { DiscoverHit } from "../../src/catalog/exposure/discover/discover-result.ts";
import { estimateTokens } from "../../src/catalog/exposure/text/token-estimate.ts";
import type { ServerSlug, ToolPath } from "../../src/kernel/ids.ts";
import type { JsonObject } from "../../src/kernel/text/json-bytes.ts";

/** A tool as the retrieval sets hold it. */
export interface CorpusTool {
  readonly id: string;
  readonly server: string;
  readonly serverTitle?: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** Costs in o200k tokens, counted with the real tokenizer. */
export interface TokenFigures {
  /** One result in the default detail, as the best of an answer (with its note) and as a later one. */
  readonly first: Spread;
  readonly later: Spread;
  /** A whole answer of ten results. */
  readonly answerOfTen: Spread;
  /** Share of results that say `cut`. */
  readonly cutShare: number;
  /** The same tools as tools/list would give them. */
  readonly flatList: number;
  /** Estimate divided by count, over the answers of ten. */
  readonly estimate: { readonly least: number; readonly most: number };
}

export interface Spread {
  readonly median: number;
  readonly p90: number;
  readonly most: number;
}

/**
 * Measures what answers over these tools cost; neighbours stand in for search results, so that answers hold similar
 * tools.
 */
export function measureTokens(tools: readonly CorpusTool[]): TokenFigures {
  const hits = tools.map(toHit);
  const answers: string[] = [];
  const first: string[] = [];
  const later: string[] = [];
  for (let from = 0; from + 10 <= hits.length; from += 10) {
    const answer = render(hits.slice(from, from + 10));
    answers.push(answer);
    for (const [rank, text] of resultsOf(answer).entries()) (rank < 3 ? first : later).push(text);
  }
  const ratios = answers.map((answer) => estimateTokens(answer) / countTokens(answer));
  const results = [...first, ...later];
  return {
    first: spread(first.map((text) => countTokens(text))),
    later: spread(later.map((text) => countTokens(text))),
    answerOfTen: spread(answers.map((text) => countTokens(text))),
    cutShare: results.filter((text) => text.includes('"cut":true')).length / Math.max(1, results.length),
    flatList: tools.reduce((sum, tool) => sum + countTokens(JSON.stringify(flat(tool))), 0),
    estimate: { least: Math.min(...ratios), most: Math.max(...ratios) },
  };
}

/** The figures as lines of text, with the targets. */
export function describeTokens(figures: TokenFigures): string {
  const line = (name: string, at: Spread, target: string): string =>
    `${name.padEnd(34)} median ${at.median}  p90 ${at.p90}  most ${at.most}  ${target}`;
  return [
    line("result among the first three", figures.first, ""),
    line("later result", figures.later, "(target: median 70, p90 130)"),
    line("answer of ten results", figures.answerOfTen, "(target: median 900)"),
    `results that say cut               ${(figures.cutShare * 100).toFixed(1)} %`,
    `the same tools as a flat list      ${figures.flatList}`,
    `estimate / count, answers of ten   ${figures.estimate.least.toFixed(2)} to ${figures.estimate.most.toFixed(2)}`,
  ].join("\n");
}

function render(hits: readonly DiscoverHit[]): string {
  const query = "create an issue in a repository";
  return renderDiscover({
    needs: [{ query, hits }],
    grouped: false,
    detail: "signature",
    totalFound: hits.length,
    searchTimeMs: 2.4,
  });
}

function resultsOf(answer: string): string[] {
  const { tools } = JSON.parse(answer) as { tools: unknown[] };
  return tools.map((tool) => JSON.stringify(tool));
}

/** A tool of a set as a search result of ours. */
export function toHit(tool: CorpusTool, rank = 0): DiscoverHit {
  const { name, title, description, inputSchema } = tool;
  const entry: ToolEntry = {
    server: tool.server as ServerSlug,
    upstreamName: name,
    path: tool.id as ToolPath,
    definition: { name, ...(title === undefined ? {} : { title }), description, inputSchema },
    hash: tool.id,
  };
  return {
    tool: entry,
    serverTitle: tool.serverTitle ?? tool.server,
    transport: "stdio",
    distance: 0.031 + (rank % 10) * 0.07,
  };
}

function flat({ name, title, description, inputSchema }: CorpusTool): JsonObject {
  return { name, ...(title === undefined ? {} : { title }), description, inputSchema };
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { median: at(0.5), p90: at(0.9), most: at(1) };
}
