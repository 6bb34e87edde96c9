import { toClientName, withHash } from "../../model/names/client-name.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { View, ViewServer } from "../../model/view.ts";

/**
 * What a name means at the `namespaces` exposure before any server's tool is looked up. Controls come first, so that
 * no tool can shadow them (fault 57).
 */
export type Control = { readonly kind: "help" } | { readonly kind: "list"; readonly server: ViewServer };

/** The names that the exposure gives out for one view. */
export interface NamespaceTable {
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
export function buildNamespaceTable(view: View, helpTool: string): NamespaceTable {
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
