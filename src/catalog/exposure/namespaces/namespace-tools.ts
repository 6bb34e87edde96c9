import { stringifyExact } from "../../../wire/json/exact-json.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { ViewServer } from "../../model/view.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { shortDescription } from "../text/discover-description.ts";
import { matchesWords, takeItems } from "./namespace-page.ts";
import { toSignature } from "../text/signature.ts";
import { visibleText } from "../text/visible-text.ts";

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
