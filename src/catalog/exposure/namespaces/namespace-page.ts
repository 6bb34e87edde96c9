import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { estimateTokens } from "../text/token-estimate.ts";

/** Upper limit of one answer about namespaces. */
const pageTokens = 4_000;
const queryCharacters = 1_000;

export interface ItemPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | undefined;
}

/**
 * As many items from the cursor on as fit, at least one. Items beyond the page are never built. Throws
 * CURSOR_INVALID.
 */
export function takeItems<Source, T>(
  sources: readonly Source[],
  cursor: string | undefined,
  toItem: (source: Source) => T,
): ItemPage<T> {
  if (cursor !== undefined && !/^\d{1,7}$/.test(cursor))
    throw new GatewayError("CURSOR_INVALID", "the cursor is not one that this list gave out");
  const items: T[] = [];
  let tokens = 0;
  let at = Number(cursor ?? 0);
  for (; at < sources.length; at += 1) {
    const item = toItem(sources[at] as Source);
    tokens += estimateTokens(JSON.stringify(item)) + 1;
    if (tokens > pageTokens && items.length > 0) break;
    items.push(item);
  }
  return { items, nextCursor: at < sources.length ? String(at) : undefined };
}

/** Whether every word of the query occurs in the text, ignoring case. */
export function matchesWords(query: string, text: string): boolean {
  const searched = text.toLowerCase();
  return query
    .slice(0, queryCharacters)
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
