import type { JsonObject } from "../../kernel/text/json-bytes.ts";

/** In texts of `_meta` of discover_mcp_tools, this is replaced by the servers that the client may use. */
export const serversPlace = "{servers}";

/** The gateway's own tools. `*` means all of them. */
export const profiledTools = [
  "*",
  "discover_mcp_tools",
  "execute_mcp_tool",
  "execute_read_only_mcp_tool",
  "list_mcp_resources",
  "read_mcp_resource",
] as const;

/**
 * What one kind of client needs beyond the protocol. The fields concern the list of our own tools, the marks of results
 * of a search, and where results are cut, and nothing else: what a client says of itself cannot be trusted, so it never
 * decides what may be seen or called.
 */
export interface ClientProfile {
  /**
   * Additions to `_meta` of the four tools in the list, by tool. `*` applies to every tool, and a tool's own members
   * take precedence.
   */
  readonly toolMeta: { readonly [Tool in (typeof profiledTools)[number]]?: JsonObject | undefined };
  /**
   * Whether the client's model already has tools named list_mcp_resources and read_mcp_resource. Ours are then left
   * out of the list.
   */
  readonly ownResourceTools: boolean;
  /**
   * Whether it gains by a second tool for calls, of which the gateway lets only those pass that read: the client asks
   * its person about every other call. Undefined for no.
   */
  readonly splitExecute?: boolean | undefined;
  /**
   * The most tokens of one result that it gives its model: of more it drops a part for good, and tells the model
   * nothing that could bring it back. Undefined for as many as `results.maxTokens`.
   */
  readonly maxResultTokens?: number | undefined;
  /**
   * Whether it keeps definitions from its model until they are needed, by itself. What our short list saves there is
   * then unknown. Undefined for no.
   */
  readonly loadsLazily?: true | undefined;
}

/** A row of the table, with what readers of docs/clients.md want to know: that page is made from it. */
export interface ProfileRow extends ClientProfile {
  readonly product: string;
  readonly reason: string;
}

const plain: ClientProfile = { toolMeta: {}, ownResourceTools: false };

const hasOwnTools =
  "Its model has tools named `list_mcp_resources` and `read_mcp_resource` already, with other arguments; they " +
  "list and read the gateway's resources natively.";

const splits =
  "It asks its person about every call of a tool that is not marked as reading only, or refuses it (plan mode, without " +
  "a terminal).";

/** No client is said to take fewer: for a smaller result it does not matter which client asked. */
export const leastClientTokens = 1_000;

/**
 * Claude Code writes results of more than 50,000 characters to a file, and shows the model the first 2,000. A tool may
 * ask for more, up to 500,000. Our results are cut already, at 25,000 tokens: even of prose that is less than this.
 */
const maxResultChars = { "anthropic/maxResultSizeChars": 150_000 };

/** By `clientInfo.name`, as `npm run clients` saw each client send it. A client that is not listed needs nothing. */
export const clientProfiles: Readonly<Record<string, ProfileRow>> = {
  "claude-code": {
    ...plain,
    product: "Claude Code",
    loadsLazily: true,
    reason:
      "Its tool search keeps the definitions of all MCP tools from the model until the model searches for them. " +
      "Tools marked this way are there from the start. What it shows the model of a large result is 2,000 " +
      `characters, unless the tool says how many it may have. ${splits}`,
    splitExecute: true,
    toolMeta: {
      "*": { "anthropic/alwaysLoad": true },
      discover_mcp_tools: { "anthropic/searchHint": `find tools of ${serversPlace}` },
      execute_mcp_tool: { "anthropic/searchHint": "call a tool of an MCP server or app", ...maxResultChars },
      execute_read_only_mcp_tool: {
        "anthropic/searchHint": "call a read-only tool of an MCP server or app",
        ...maxResultChars,
      },
      list_mcp_resources: { "anthropic/searchHint": "list resources of MCP servers" },
      read_mcp_resource: { "anthropic/searchHint": "read a resource of an MCP server", ...maxResultChars },
    },
  },
  "codex-mcp-client": {
    ...plain,
    product: "Codex",
    reason:
      `${hasOwnTools} Of a result it gives its model 10,000 tokens, a quarter of them for a model that it does not ` +
      `know, and drops what was in the middle. ${splits}`,
    ownResourceTools: true,
    splitExecute: true,
    maxResultTokens: 8_000,
  },
  "gemini-cli-mcp-client": {
    ...plain,
    product: "Gemini CLI",
    reason: `${hasOwnTools} Of a result of more than 40,000 characters it drops the middle of what it shows its model.`,
    ownResourceTools: true,
    maxResultTokens: 8_000,
  },
  opencode: {
    ...plain,
    product: "opencode",
    reason: `${hasOwnTools} Of a result it gives its model 51,200 bytes; the end is in a file.`,
    ownResourceTools: true,
    maxResultTokens: 10_000,
  },
  "qwen-cli-mcp-client-*": {
    ...plain,
    product: "Qwen Code",
    reason: "Of a result of more than 25,000 characters it shows its model 2,000; the rest is in a file.",
    maxResultTokens: 5_000,
  },
  "copilot-cli": {
    ...plain,
    product: "Copilot CLI",
    reason:
      "Of a result of more than some 20,000 bytes it shows its model 500 characters; the rest is in a file. " + splits,
    splitExecute: true,
    maxResultTokens: 4_000,
  },
  "kimi-code": {
    ...plain,
    product: "Kimi Code",
    reason: "Of a result of more than 50,000 characters it shows its model some 5,800; the rest is in a file.",
    maxResultTokens: 12_000,
  },
  "@cline/core": {
    ...plain,
    product: "Cline",
    reason: "Of a result it gives its model 8,000 characters, and drops the rest.",
    maxResultTokens: 2_000,
  },
};

export type ClientProfiles = Readonly<Record<string, ClientProfile>>;

/** What the configuration says of a client. What it leaves out stays as in the table. */
export interface WrittenProfile {
  readonly toolMeta?: ClientProfile["toolMeta"] | undefined;
  readonly ownResourceTools?: boolean | undefined;
  readonly splitExecute?: boolean | undefined;
  readonly maxResultTokens?: number | undefined;
}

/** The table with the configuration's changes and additions, field by field. */
export function withWrittenProfiles(written: Readonly<Record<string, WrittenProfile>>): ClientProfiles {
  const names = [...Object.keys(clientProfiles), ...Object.keys(written)];
  return Object.fromEntries(
    names.map((name) => {
      const row = Object.hasOwn(clientProfiles, name) ? (clientProfiles[name] ?? plain) : plain;
      const own = Object.hasOwn(written, name) ? written[name] : undefined;
      return [
        name,
        {
          toolMeta: own?.toolMeta ?? row.toolMeta,
          ownResourceTools: own?.ownResourceTools ?? row.ownResourceTools,
          splitExecute: own?.splitExecute ?? row.splitExecute,
          maxResultTokens: own?.maxResultTokens ?? row.maxResultTokens,
          loadsLazily: row.loadsLazily,
        },
      ];
    }),
  );
}

/** mcp-remote passes on its client's name with its own appended: `claude-code (via mcp-remote 0.1.29)`. */
const relay = / \(via [^()]{1,100}\)$/;

/**
 * The profile of a client by the name it gives itself. A row whose name ends in `*` applies to all names that begin
 * so.
 */
export function findClientProfile(profiles: ClientProfiles, clientName: string | undefined): ClientProfile | undefined {
  return findByClient(profiles, clientName);
}

/** The same for rows of another kind. */
export function findByClient<Value>(
  rows: Readonly<Record<string, Value>>,
  clientName: string | undefined,
): Value | undefined {
  if (clientName === undefined) return undefined;
  const name = clientName.slice(0, longestName).replace(relay, "");
  if (Object.hasOwn(rows, name)) return rows[name];
  const prefixes = Object.keys(rows).filter((row) => row.endsWith("*") && name.startsWith(row.slice(0, -1)));
  const longest = prefixes.toSorted((left, right) => right.length - left.length)[0];
  return longest === undefined ? undefined : rows[longest];
}

/** Names are compared with every row of a table: no client has one this long. */
const longestName = 200;
