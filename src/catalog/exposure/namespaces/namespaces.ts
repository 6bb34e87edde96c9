import { toNativeUri } from "../../model/resource-uri.ts";
import type { View } from "../../model/view.ts";
import type { CallArguments } from "../../../kernel/call/call-arguments.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { ServerSlug } from "../../../kernel/ids.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Exposure, Listing } from "../exposure.ts";
import { describeServers } from "../meta/instructions.ts";
import type { ExposureRequest, Intent } from "../intent.ts";
import { renderShared } from "../meta/meta.ts";
import { invalid } from "../meta/meta-arguments.ts";
import { renderHelp } from "./namespace-help.ts";
import { buildNamespaceTable, type Control, type NamespaceTable } from "./namespace-table.ts";
import { helpDefinition, listDefinition } from "./namespace-tools.ts";
import {
  listNative,
  resolveCompletion,
  resolvePrompt,
  resolveRead,
  toListedTool,
  toListing,
  toolFor,
} from "../native.ts";
import { resolveOffered } from "../offered-tool.ts";
import { toCall } from "../text/tool-lookup.ts";

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
