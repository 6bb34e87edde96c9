import type { InstanceCatalog, ToolEntry } from "../model/snapshot.ts";
import type { Match } from "../search/confidence-weights.ts";
import type { ScoredTool } from "../search/rank.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { PrincipalId, ServerSlug } from "../../kernel/ids.ts";

/** One need to be met, in one principal's view. */
export interface SearchRequest {
  /** Whose memory of use counts. */
  readonly principal: PrincipalId;
  /** The instances of the view, always in the same order: the same list is searched in the same index. */
  readonly parts: readonly InstanceCatalog[];
  /** As {@link readQuery} returned it. */
  readonly query: string;
  /** As {@link clampLimit} returned it. */
  readonly limit: number;
  readonly server?: ServerSlug;
  readonly readOnly?: boolean;
  /** Whether the principal may see a tool at all. */
  readonly allow?: (tool: ToolEntry) => boolean;
}

export interface SearchAnswer {
  /** Best first. Empty only when no word of the query is known. */
  readonly tools: readonly ScoredTool[];
  /** Tools that fit at all, those answered among them; counted up to some hundred. */
  readonly total: number;
  /** Whether the best tool does what was asked, or something like it, or nothing does. */
  readonly match: Match;
  /** What could not be used this time; the answer is good without it. */
  readonly degraded?: "embeddings";
}

export interface SearchEngine {
  readonly name: "lexical" | "fuse";
  /** Rejects with QUERY_INVALID or SEARCH_FAILED, or with the signal's reason. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
  /**
   * Does off the call path what the next search of these instances would have to do. Instances not named may be
   * forgotten.
   */
  prepare(parts: readonly InstanceCatalog[], signal: AbortSignal): Promise<void>;
}

/** Characters of a query that are searched; what follows them is cut off. */
export const queryLengthLimit = 1_000;
/** UTF-8 bytes above which a query is refused. */
export const queryByteLimit = 10 * 1024;
const limitRange = Object.freeze({ least: 1, most: 50, usual: 10 });

export interface ReadQuery {
  readonly query: string;
  /** Whether it was cut: the answer says so. */
  readonly cut: boolean;
}

/** A query of any language, script and length, ready to be searched. Throws QUERY_INVALID above 10 KB (fault 62). */
export function readQuery(text: string): ReadQuery {
  // No UTF-16 unit takes more than three bytes: a short query needs no counting.
  if (text.length > queryByteLimit || (text.length * 3 > queryByteLimit && Buffer.byteLength(text) > queryByteLimit)) {
    throw new GatewayError("QUERY_INVALID", `the query is longer than ${queryByteLimit} bytes`, {
      data: { limitBytes: queryByteLimit },
    });
  }
  const trimmed = text.trim();
  if (trimmed.length <= queryLengthLimit) return { query: trimmed, cut: false };
  return { query: trimmed.slice(0, queryLengthLimit).replace(/[\uD800-\uDBFF]$/, ""), cut: true };
}

/** A limit of any kind, made one of 1..50; 10 when it is no number (fault 63). */
export function clampLimit(value: unknown): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || Number.isNaN(number)) return limitRange.usual;
  return Math.trunc(Math.min(limitRange.most, Math.max(limitRange.least, number)));
}
