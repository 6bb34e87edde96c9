import type { InstanceCatalog, ToolEntry } from "../model/snapshot.ts";
import type { Match } from "../search/rank/confidence.ts";
import type { Explanation } from "../search/explain/explanation.ts";
import type { ScoredTool } from "../search/rank.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { PrincipalId, ServerSlug } from "../../kernel/ids.ts";

/** One of the two things that ranking goes by, where there are embeddings. */
export type RankedBy = "words" | "meaning";

/** One query, to be searched in one principal's view. */
export interface SearchRequest {
  /** The principal whose past use influences the ranking. */
  readonly principal: PrincipalId;
  /** The instances of the view, always in the same order, so that the index built for one list is found again. */
  readonly parts: readonly InstanceCatalog[];
  /** As {@link readQuery} returned it. */
  readonly query: string;
  /** As {@link clampLimit} returned it. */
  readonly limit: number;
  readonly server?: ServerSlug;
  /** For somebody who compares: leaves out what embeddings say, or all but that. */
  readonly only?: RankedBy;
  /** Whether the principal may see a tool at all, and it is of those that are looked for. */
  readonly allow?: (tool: ToolEntry) => boolean;
}

export interface SearchAnswer {
  /** Best first. Empty only when no word of the query is known. */
  readonly tools: readonly ScoredTool[];
  /** How many tools fit at all, including those returned. Counting stops at a few hundred. */
  readonly total: number;
  /** Whether the best tool does what was asked, does something similar, or nothing fits. */
  readonly match: Match;
  /**
   * What could not be used this time: `embeddings`, without which the answer is good, or tools that are still being
   * indexed (`indexing`).
   */
  readonly degraded?: "embeddings" | "indexing";
}

/** The same answer with the reasons for it. */
export interface ExplainedAnswer extends SearchAnswer {
  readonly tools: readonly ExplainedHit[];
}

export interface ExplainedHit extends ScoredTool {
  /**
   * Where the score by words comes from. Absent for a tool that only its meaning led to (`search.embeddings`), which
   * no word explains.
   */
  readonly explanation?: Explanation | undefined;
}

export interface SearchEngine {
  readonly name: "lexical" | "fuse";
  /** Whether it also goes by the meaning of words (`search.embeddings`). */
  readonly hasMeaning: boolean;
  /** Rejects with QUERY_INVALID or SEARCH_FAILED, or with the signal's reason. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
  /** The same search for somebody who wants to know why; absent where an engine cannot say it. */
  explain?(request: SearchRequest, signal: AbortSignal): Promise<ExplainedAnswer>;
  /**
   * Does in advance what the next search of these instances would have to do. Data kept for other instances may be
   * dropped.
   */
  prepare(parts: readonly InstanceCatalog[], signal: AbortSignal): Promise<void>;
}

/** Characters of a query that are searched. The rest is cut off. */
export const queryLengthLimit = 1_000;
/** UTF-8 bytes above which a query is refused. */
export const queryByteLimit = 10 * 1024;
const limitRange = Object.freeze({ least: 1, most: 50, usual: 10 });

export interface ReadQuery {
  readonly query: string;
  /** Whether the query was cut, so that the answer can say so. */
  readonly cut: boolean;
}

/** Prepares a query of any language, script and length for searching. Throws QUERY_INVALID above 10 KB (fault 62). */
export function readQuery(text: string): ReadQuery {
  // A UTF-16 unit takes at most three bytes, so that a short query need not be measured.
  if (text.length > queryByteLimit || (text.length * 3 > queryByteLimit && Buffer.byteLength(text) > queryByteLimit)) {
    throw new GatewayError("QUERY_INVALID", `the query is longer than ${queryByteLimit} bytes`, {
      data: { limitBytes: queryByteLimit },
    });
  }
  const trimmed = text.trim();
  if (trimmed.length <= queryLengthLimit) return { query: trimmed, cut: false };
  return { query: trimmed.slice(0, queryLengthLimit).replace(/[\uD800-\uDBFF]$/, ""), cut: true };
}

/** Turns any value into a limit of 1 to 50. Anything that is not a number gives 10 (fault 63). */
export function clampLimit(value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || Number.isNaN(number)) return limitRange.usual;
  return Math.trunc(Math.min(limitRange.most, Math.max(limitRange.least, number)));
}
