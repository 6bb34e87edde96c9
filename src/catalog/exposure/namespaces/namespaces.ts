import { toNativeUri } from "../../model/resource-uri.ts";
import type { View, ViewServer } from "../../model/view.ts";
import type { CallArguments, Era } from "../../../kernel/call/call-context.ts";
import type { ServerSlug } from "../../../kernel/ids.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Exposure, Listing } from "../exposure.ts";
import { describeServers } from "../meta/instructions.ts";
import type { ExposureRequest, Intent } from "../intent.ts";
import { renderShared } from "../meta/meta.ts";
import { invalid } from "../meta/meta-arguments.ts";
import { helpDefinition, listDefinition, matchesWords, takeItems } from "./namespace-tools.ts";
import {
  listNative,
  resolveCompletion,
  resolvePrompt,
  resolveRead,
  toListedTool,
  toListing,
  toolFor,
} from "../native.ts";
import { resolveOffered, toCall } from "../text/tool-lookup.ts";
import { visibleText } from "../text/visible-text.ts";
import { toClientName, withHash } from "../../model/names/name-claims.ts";
import type { ToolEntry } from "../../model/snapshot.ts";

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
function renderHelp(
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

/**
 * For clients that browse (docs/exposures/namespaces.md): a help tool, `{namespace}__list_tools` for each namespace,
 * and the tools of the namespaces that are loaded for the principal as `{namespace}__{tool}`. A tool of a namespace
 * that is not loaded can be called by name all the same.
 */
export function createNamespacesExposure(options: { readonly helpTool: () => string }): Exposure {
  const tables = new WeakMap<View, NamespaceTable>();

  function tableOf(view: View): NamespaceTable {
    let table = tables.get(view);
    if (table === undefined) tables.set(view, (table = buildNamespaceTable(view, options.helpTool())));
    return table;
  }

  function listTools(view: View, era: Era | undefined): Listing {
    const table = tableOf(view);
    const loaded = table.servers.filter((server) => view.loaded.has(server.instance) && server.shown);
    const items = [
      helpDefinition(options.helpTool()),
      ...table.servers.map((server) => listDefinition(server, table.listName(server))),
      ...loaded.flatMap((server) =>
        server.tools.map((tool) => toListedTool(toolFor(era, tool.definition), table.toolName(tool), server)),
      ),
    ];
    // The loaded tools belong to this principal alone, even where the servers are shared.
    return { ...toListing(table.servers, items), cacheScope: "private" };
  }

  function resolveControl(view: View, control: Control, given: CallArguments): Intent {
    const value = isJsonObject(given.value) ? given.value : {};
    const query = optionalText(value, "query");
    const cursor = optionalText(value, "cursor");
    if (control.kind === "help") return { kind: "answer", result: renderHelp(view, tableOf(view), { query, cursor }) };
    return {
      kind: "list-namespace",
      server: control.server,
      nameOf: (after, tool) => tableOf(after).toolName(tool),
      query,
      cursor,
    };
  }

  function resolve(view: View, request: ExposureRequest): Intent {
    switch (request.method) {
      case "tools/call": {
        const table = tableOf(view);
        const control = table.controls.get(request.name);
        if (control !== undefined) return resolveControl(view, control, request.arguments);
        const displaced = table.displaced(request.name);
        if (displaced !== undefined) return toCall(view, displaced, request.arguments);
        return resolveOffered(view, request.name, request.arguments, {
          listing: "namespaced",
          nameOf: (tool) => table.toolName(tool),
          hint: `Call ${options.helpTool()} to see what exists.`,
        });
      }
      case "resources/read":
        return resolveRead(view, request.uri, "native");
      case "prompts/get":
        return resolvePrompt(view, request.name, request.arguments);
      case "completion/complete":
        return resolveCompletion(view, request.ref);
    }
  }

  return Object.freeze({
    name: "namespaces",
    toolsChange: true,
    spelling: "namespaced",
    showsDefinitions: true,
    toolsDependOn: "loaded namespaces",
    list: (view, kind, reader) => (kind === "tools" ? listTools(view, reader?.era) : listNative(view, kind)),
    resolve,
    render: renderShared,
    toUri: (server, uri) => toNativeUri(server as ServerSlug, uri),
    instructions: (view) =>
      describeServers(
        view,
        `Toolyard offers the MCP servers below, each as a namespace. Call {namespace}__list_tools to see a namespace's tools, then call them as {namespace}__{tool}; ${options.helpTool()} explains.`,
      ),
    isTransparent: false,
    transparent: () => undefined,
  } satisfies Exposure);
}

function optionalText(given: JsonObject, key: string): string | undefined {
  const value = given[key];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw invalid(key, "must be a string");
  return value;
}

/**
 * What a name means at the `namespaces` exposure before any server's tool is looked up. Controls come first, so that
 * no tool can shadow them (fault 57).
 */
type Control = { readonly kind: "help" } | { readonly kind: "list"; readonly server: ViewServer };

/** The names that the exposure gives out for one view. */
interface NamespaceTable {
  /** In the order of the list: help, then one per namespace. */
  readonly controls: ReadonlyMap<string, Control>;
  /** Servers whose namespace is offered. */
  readonly servers: readonly ViewServer[];
  listName(server: ViewServer): string;
  toolName(tool: ToolEntry): string;
  /** The tool whose name had to give way to a control. */
  displaced(name: string): ToolEntry | undefined;
}

/** A pure function. The exposure keeps one table per view. */
function buildNamespaceTable(view: View, helpTool: string): NamespaceTable {
  const servers = view.servers.filter((server) => server.status !== "disabled");
  const controls = new Map<string, Control>([[helpTool, { kind: "help" }]]);
  const listNames = new Map<ViewServer, string>();
  for (const server of servers) {
    const plain = toClientName(`${server.namespace}__list_tools`, server.slug);
    const name = controls.has(plain) ? withHash(plain, server.slug, 16) : plain;
    controls.set(name, { kind: "list", server });
    listNames.set(server, name);
  }
  const moved = displacedTools(view, controls);
  const displacedNames = new Map([...moved].map(([tool, name]) => [name, tool]));
  return {
    controls,
    servers,
    listName: (server) => listNames.get(server) ?? "",
    toolName: (tool) => moved.get(tool) ?? view.names.namespacedName(tool),
    displaced: (name) => displacedNames.get(name),
  };
}

/**
 * A server may well have a tool called `list_tools`. It is listed with a hash, as are two tools that share a name.
 */
function displacedTools(view: View, controls: ReadonlyMap<string, Control>): Map<ToolEntry, string> {
  const moved = new Map<ToolEntry, string>();
  for (const tool of view.names.tools) {
    const name = view.names.namespacedName(tool);
    if (!controls.has(name)) continue;
    let digits = 8;
    let hashed = withHash(name, tool.path, digits);
    while (digits < 32 && (controls.has(hashed) || view.names.find(hashed, "namespaced").kind !== "none"))
      hashed = withHash(name, tool.path, (digits *= 2));
    moved.set(tool, hashed);
  }
  return moved;
}
