import { stringifyExact } from "../../../wire/json/exact-json.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { ViewServer } from "../../model/view.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { shortDescription } from "../text/discover-description.ts";
import { toSignature } from "../text/signature.ts";
import { visibleText } from "../text/visible-text.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { estimateTokens } from "../text/token-estimate.ts";

const descriptionTokens = 60;
const signatureTokens = 160;
const aboutCharacters = 80;

/** The definition of the help tool, as JSON text. */
export function helpDefinition(name: string): string {
  return asciiJson({
    name,
    title: "Explain and list namespaces",
    description:
      "Explains how tools are organised here, and lists the namespaces: category, number of tools, loaded or not.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "only namespaces with these words" },
        cursor: { type: "string" },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  });
}

/** The definition of a namespace's `{namespace}__list_tools`, as JSON text. */
export function listDefinition(server: ViewServer, name: string): string {
  const title = visibleText(server.title).text.slice(0, aboutCharacters);
  const about =
    visibleText(server.catalog?.instructions ?? server.category ?? "")
      .text.split(/[\n.]/, 1)[0]
      ?.trim()
      .slice(0, aboutCharacters) ?? "";
  const count = server.catalog === undefined ? "" : ` (${server.tools.length})`;
  return asciiJson({
    name,
    title: `${title}: list tools`,
    description: `Lists the tools of ${title}${count} and loads them.${about === "" ? "" : ` ${about}.`}`,
    inputSchema: {
      type: "object",
      properties: { query: { type: "string", description: "only tools with these words" }, cursor: { type: "string" } },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  });
}

export interface NamespaceListing {
  /** The server as it is after loading. */
  readonly server: ViewServer;
  readonly nameOf: (tool: ToolEntry) => string;
  readonly query: string | undefined;
  readonly cursor: string | undefined;
  readonly loaded: boolean;
  readonly stale: string | undefined;
}

/**
 * The answer of `{namespace}__list_tools`: `{ namespace, loaded, total, tools: [{ name, description, input,
 * read_only? }], next_cursor?, stale? }`, a page of at most 4,000 tokens. Throws CURSOR_INVALID.
 */
export function renderNamespace(listing: NamespaceListing): JsonObject {
  const { server, query, stale } = listing;
  const tools = server.tools.filter(
    (tool) =>
      query === undefined ||
      matchesWords(
        query,
        `${tool.definition.name} ${tool.definition.title ?? ""} ${tool.definition.description ?? ""}`,
      ),
  );
  const page = takeItems(tools, listing.cursor, (tool) => toLine(tool, listing.nameOf(tool)));
  const answer = {
    namespace: server.namespace,
    loaded: listing.loaded,
    total: tools.length,
    tools: page.items,
    ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
    ...(stale === undefined
      ? {}
      : { stale: `These tools may be out of date: ${visibleText(stale).text.slice(0, 200)}` }),
  };
  return { content: [{ type: "text", text: stringifyExact(answer) }] };
}

function toLine(tool: ToolEntry, name: string): JsonObject {
  const { description, inputSchema, annotations } = tool.definition;
  return {
    name,
    ...(description === undefined ? {} : { description: shortDescription(description, descriptionTokens).text }),
    input: toSignature(inputSchema, { maxTokens: signatureTokens }).text,
    ...(annotations?.readOnlyHint === true ? { read_only: true } : {}),
  };
}

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
