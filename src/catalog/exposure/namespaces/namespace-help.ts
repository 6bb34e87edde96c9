import type { View, ViewServer } from "../../model/view.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { matchesWords, takeItems } from "./namespace-page.ts";
import type { NamespaceTable } from "./namespace-table.ts";
import { visibleText } from "../text/visible-text.ts";

const usage = [
  "Each MCP server is a namespace.",
  "Call a namespace's list_tools to load it: its tools are then listed as tools of their own, with signatures in the answer.",
  "Tools are called as {namespace}__{tool}, also when their namespace is not loaded.",
  "Namespaces that are not used for a while are unloaded.",
].join(" ");

/**
 * The answer of the help tool: `{ usage, total, namespaces: [{ name, display_name, list_tools, category?, icon?,
 * tools, loaded, status? }], next_cursor? }`. Throws CURSOR_INVALID.
 */
export function renderHelp(
  view: View,
  table: NamespaceTable,
  request: { readonly query: string | undefined; readonly cursor: string | undefined },
): JsonObject {
  const { query } = request;
  const servers = table.servers.filter(
    (server) =>
      query === undefined ||
      matchesWords(
        query,
        `${server.namespace} ${server.slug} ${server.title} ${server.category ?? ""} ${server.catalog?.instructions ?? ""}`,
      ),
  );
  const page = takeItems(servers, request.cursor, (server) => toLine(view, table, server));
  const answer = {
    usage,
    total: servers.length,
    namespaces: page.items,
    ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
  };
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
}

function toLine(view: View, table: NamespaceTable, server: ViewServer): JsonObject {
  return {
    name: server.namespace,
    display_name: visibleText(server.title).text.slice(0, 100),
    list_tools: table.listName(server),
    ...(server.category === undefined ? {} : { category: visibleText(server.category).text.slice(0, 60) }),
    ...(server.icon === undefined ? {} : { icon: server.icon.slice(0, 300) }),
    tools: server.tools.length,
    loaded: view.loaded.has(server.instance),
    // Given only where it matters: the namespace of a server that cannot be used is listed all the same.
    ...(server.status === "online" ? {} : { status: server.status }),
  };
}
