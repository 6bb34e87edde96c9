import type { Explanation } from "../../search/explain/explanation.ts";
import type { Match } from "../../search/rank/confidence.ts";
import type { InstanceStatus } from "../../../kernel/status-words.ts";
import { renderFound, type Found } from "./discover-text.ts";
import type { Unavailable } from "./discover-servers.ts";
import { toSignature } from "../text/signature.ts";
import { estimateTokens } from "../text/token-estimate.ts";

/** What discover_mcp_tools would answer, for somebody who wants to see how it comes about. */
export interface SearchReport {
  /** The engine that answered; null when the search failed. */
  readonly engine: "lexical" | "fuse" | null;
  /** Whether the meaning of words counted (`search.embeddings`). */
  readonly meaning: "used" | "left-out" | "none";
  readonly search_time_ms: number;
  /** What the answer costs a model, estimated. */
  readonly answer_tokens: number;
  /** The answer itself, as a model reads it. Absent unless explanations were requested. */
  readonly answer?: string;
  /** Whether a query was longer than the part that is searched. */
  readonly query_cut: boolean;
  /** What could not be used this time. */
  readonly degraded: string | null;
  /** Why the search failed. */
  readonly failed: string | null;
  readonly queries: readonly ReportedQuery[];
  readonly unavailable: readonly Unavailable[];
  readonly unavailable_others: number;
}

export interface ReportedQuery {
  readonly query: string;
  readonly match: Match | null;
  /** Tools that fit at all. */
  readonly total_found: number;
  readonly tools: readonly ReportedTool[];
}

export interface ReportedTool {
  readonly tool_path: string;
  readonly server: string;
  readonly status: InstanceStatus | "dormant";
  readonly description: string;
  /** Compact signature. */
  readonly input: string;
  /** A distance: 0 is a perfect match, 1 is none. */
  readonly relevance_score: number;
  /** Of the ranking: higher is better, comparable within one answer only. */
  readonly score: number;
  /** Absent unless requested, and where there is nothing to explain. */
  readonly explanation?: Explanation;
}

const signatureTokens = 160;

/** `discoverTokens` is the budget of an answer to a model. */
export function toSearchReport(found: Extract<Found, { kind: "found" }>, discoverTokens: number): SearchReport {
  const { request, search, failed, unavailable, unavailableOthers } = found;
  const answer = renderFound(found, discoverTokens);
  return {
    engine: search?.engine ?? null,
    meaning: search?.meaning ?? "none",
    search_time_ms: Math.round((search?.searchTimeMs ?? 0) * 100) / 100,
    answer_tokens: estimateTokens(answer),
    ...(request.explain === true ? { answer } : {}),
    query_cut: search?.queryCut ?? false,
    degraded: search?.degraded ?? null,
    failed: failed ?? null,
    queries: (search?.needs ?? []).map(({ query, match, totalFound, hits }) => ({
      query,
      match: match ?? null,
      total_found: totalFound,
      tools: hits.map((hit) => toReportedTool(found, hit)),
    })),
    unavailable,
    unavailable_others: unavailableOthers,
  };
}

type Hit = NonNullable<Extract<Found, { kind: "found" }>["search"]>["needs"][number]["hits"][number];

function toReportedTool({ view }: Extract<Found, { kind: "found" }>, hit: Hit): ReportedTool {
  const { tool, distance, score, explanation } = hit;
  const server = view.server(tool.server);
  return {
    tool_path: tool.path,
    server: tool.server,
    status: server === undefined ? "disabled" : server.dormant ? "dormant" : server.status,
    description: tool.definition.description ?? tool.definition.title ?? "",
    input: toSignature(tool.definition.inputSchema, { maxTokens: signatureTokens }).text,
    relevance_score: Math.round(Math.min(1, Math.max(0, distance)) * 1_000) / 1_000,
    score,
    ...(explanation === undefined ? {} : { explanation }),
  };
}
