import type { ClientProfile } from "../../config/client-profiles.ts";
import type { JsonObject } from "../../kernel/json-bytes.ts";

/**
 * The four tools (docs/design.md, "The four tools"). Together they cost at most 600 tokens (o200k; a test measures
 * it). They never change while a client is connected, so that its prompt cache stays valid.
 */
export const metaTools: readonly JsonObject[] = Object.freeze([
  {
    name: "discover_mcp_tools",
    title: "Find tools",
    description:
      "Search the tools of all connected MCP servers. Give one need per query, as a short phrase (verb and object); several needs go in queries. Answers tool_path, description and input signature; call with execute_mcp_tool; `more` names other tools, server:name. An empty query lists the servers.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string" },
        queries: { type: "array", items: { type: "string" } },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 10 },
        server: { type: "string", description: "only this server" },
        readOnly: { type: "boolean" },
        detail: { type: "string", enum: ["names", "signature", "schema"], default: "signature" },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "execute_mcp_tool",
    title: "Call a tool",
    description: "Call a tool found with discover_mcp_tools. Arguments must fit its signature.",
    inputSchema: {
      type: "object",
      properties: {
        tool_path: { type: "string", description: "server:tool" },
        arguments: { type: "object" },
      },
      required: ["tool_path"],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  {
    name: "list_mcp_resources",
    title: "List resources",
    description: "List resources and resource templates of all connected MCP servers.",
    inputSchema: {
      type: "object",
      properties: { server: { type: "string" }, query: { type: "string" }, cursor: { type: "string" } },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "read_mcp_resource",
    title: "Read a resource",
    description: "Read a resource by a uri from list_mcp_resources or from a tool's result.",
    inputSchema: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
]);

export type MetaToolName = "discover_mcp_tools" | "execute_mcp_tool" | "list_mcp_resources" | "read_mcp_resource";

const metaNames: ReadonlySet<unknown> = new Set(metaTools.map((tool) => tool["name"]));

/** Whether a name is that of one of the four tools: every call asks. */
export function isMetaTool(name: string): name is MetaToolName {
  return metaNames.has(name);
}

/**
 * Names of our tools that a client with its own tools for resources does not need: its tools do the same with native
 * resources.
 */
const resourceTools: ReadonlySet<unknown> = new Set<MetaToolName>(["list_mcp_resources", "read_mcp_resource"]);

/**
 * The four tools as one kind of client needs them. The two for resources are left out together or not at all, because
 * the description of one names the other; nothing else that a model reads before calling mentions them. Both can be
 * called, listed or not.
 */
export function toolsFor(client: ClientProfile): readonly JsonObject[] {
  const listed = client.ownResourceTools ? metaTools.filter(({ name }) => !resourceTools.has(name)) : metaTools;
  return listed.map((tool) => {
    const meta = { ...client.toolMeta["*"], ...client.toolMeta[tool["name"] as MetaToolName] };
    return Object.keys(meta).length === 0 ? tool : { ...tool, _meta: meta };
  });
}
