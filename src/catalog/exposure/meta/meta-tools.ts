import { serversPlace, type ClientProfile, type profiledTools } from "../../../config/rows/client-profiles.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ServerTexts } from "../text/server-texts.ts";

const callSchema: JsonObject = Object.freeze({
  type: "object",
  properties: {
    tool_path: { type: "string", description: "server:tool" },
    arguments: { type: "object" },
  },
  required: ["tool_path"],
});

/**
 * The four tools (docs/design.md, "The four tools"), and the twin of execute_mcp_tool that only some clients get.
 * Together they cost at most 600 tokens (o200k; a test measures it). They never change while a client is connected, so
 * that its prompt cache stays valid. `annotations.title` repeats the title, because Claude Code shows that one alone.
 */
const metaTools: readonly JsonObject[] = Object.freeze([
  {
    name: "discover_mcp_tools",
    title: "Find tools",
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
    annotations: { title: "Find tools", readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "execute_mcp_tool",
    title: "Call a tool",
    description: "Call a tool found with discover_mcp_tools. Arguments must fit its signature.",
    inputSchema: callSchema,
    annotations: {
      title: "Call a tool",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  },
  {
    name: "execute_read_only_mcp_tool",
    title: "Call a read-only tool",
    description: "Call a tool that discover_mcp_tools marks readOnly.",
    inputSchema: callSchema,
    annotations: { title: "Call a read-only tool", readOnlyHint: true, openWorldHint: true },
  },
  {
    name: "list_mcp_resources",
    title: "List resources",
    description: "List resources and resource templates of all connected MCP servers.",
    inputSchema: {
      type: "object",
      properties: { server: { type: "string" }, query: { type: "string" }, cursor: { type: "string" } },
    },
    annotations: { title: "List resources", readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "read_mcp_resource",
    title: "Read a resource",
    description: "Read a resource by a uri from list_mcp_resources or from a tool's result.",
    inputSchema: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
    annotations: { title: "Read a resource", readOnlyHint: true, openWorldHint: true },
  },
]);

export type MetaToolName = Exclude<(typeof profiledTools)[number], "*">;

const metaNames: ReadonlySet<unknown> = new Set(metaTools.map((tool) => tool["name"]));

/** Whether a name is that of one of our tools: every call asks. */
export function isMetaTool(name: string): name is MetaToolName {
  return metaNames.has(name);
}

/** The two that call a server's tool, which differ in what the gateway lets pass. */
export const callingTools = { all: "execute_mcp_tool", readOnly: "execute_read_only_mcp_tool" } as const;

/** Whether it is one of the two that call a server's tool. */
export function callsTool(name: string): boolean {
  return name === callingTools.all || name === callingTools.readOnly;
}

/**
 * Names of our tools that a client with its own tools for resources does not need: its tools do the same with native
 * resources.
 */
const resourceTools: ReadonlySet<unknown> = new Set<MetaToolName>(["list_mcp_resources", "read_mcp_resource"]);

/**
 * Our tools as one kind of client needs them; undefined for any other. The two for resources are left out together or
 * not at all, because the description of one names the other; nothing else that a model reads before calling mentions
 * them. All of them can be called, listed or not.
 */
export function toolsFor(client: ClientProfile | undefined, texts: ServerTexts): readonly JsonObject[] {
  const listed = metaTools.filter(
    ({ name }) =>
      (client?.ownResourceTools !== true || !resourceTools.has(name)) &&
      (client?.splitExecute === true || name !== callingTools.readOnly),
  );
  return listed.map(({ name, title, ...tool }) => {
    const isFind = name === ("discover_mcp_tools" satisfies MetaToolName);
    const meta = { ...client?.toolMeta["*"], ...client?.toolMeta[name as MetaToolName] };
    return {
      name,
      title,
      ...(isFind ? { description: texts.findTools } : {}),
      ...tool,
      ...(Object.keys(meta).length === 0 ? {} : { _meta: isFind ? withServers(meta, texts) : meta }),
    };
  });
}

/** Puts the servers in where a profile says `{servers}`. */
function withServers(meta: JsonObject, { inShort }: ServerTexts): JsonObject {
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [
      key,
      typeof value === "string" ? value.replace(serversPlace, () => inShort) : value,
    ]),
  );
}
