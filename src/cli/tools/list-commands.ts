import { countText } from "../../kernel/text/number-text.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { listProfiles } from "../../operations/tools/profile-operations.ts";
import type { showPins } from "../../operations/tools/pin-operations.ts";
import type { listTools } from "../../operations/tools/tool-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { textOption } from "../../config/given.ts";
import { mostRows, type GatewayClient, readStatus } from "../gateway/gateway-client.ts";
import { allRows } from "../../kernel/all-rows.ts";
import { printAnswer, printList, type ListAsked, matcherOf } from "../gateway/list-output.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell } from "../terminal/record-cells.ts";
import { styleOfWord } from "../terminal/status-text.ts";
import { type JsonObject, isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { listResources, readOne } from "../../operations/tools/resource-operations.ts";
import { toTable, type Column } from "../terminal/table.ts";
import { openStartedGateway, waitForServers, whenListed } from "../gateway/started-gateway.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { printResult } from "./result-output.ts";
import type { listPrompts } from "../../operations/tools/prompt-operations.ts";

type ToolPage = Extract<TypesOf<typeof listTools>["answer"], { readonly total: number }>;

/** With the status of its server in a word. */
type ToolRow = ToolPage["tools"][number] & { readonly word: string };

/** `toolyard tools [server]`: every tool that a call can reach. */
export async function tools(context: CommandContext): Promise<number> {
  const shown = {
    columns: [
      { heading: "TOOL" },
      { heading: "EFFECT", rank: 2 },
      { heading: "TOKENS", align: "right", rank: 1 },
      { heading: "STATUS", rank: 3, style: styleOfWord },
      { heading: "DESCRIPTION", fit: "cut", least: 32 },
    ] as const,
    read: async (gateway: GatewayClient, asked: Omit<ToolsAsked, "profile">) =>
      await readTools(gateway, { ...asked, profile: textOption(context, "profile") }),
    toCells: ({ tool_path: path, effect, asks, tokens, tokens_exact: isExact, word, description, title }: ToolRow) => [
      toCell(path, 80),
      asks ? `${effect}, asks` : effect,
      `${isExact ? "" : "~"}${countText(tokens)}`,
      word,
      toCell(description ?? title ?? "", 200),
    ],
    toJson: (tool: ToolRow) => JSON.stringify(tool),
    nothing: "there is no such tool",
  };
  return await printList(context, shown, async (gateway, { server }) => {
    if (server === undefined) await tellPinned(gateway);
  });
}

interface ToolsAsked {
  readonly server: string | undefined;
  readonly match: string | undefined;
  readonly profile: string | undefined;
}

async function readTools(gateway: GatewayClient, asked: ToolsAsked): Promise<readonly ToolRow[]> {
  const rows = await allRows(mostRows, async (page) => {
    const query = { ...page, ...asked };
    const answer = (await gateway.ask<typeof listTools>("GET /api/tools", { query })) as ToolPage;
    return { rows: answer.tools, nextCursor: answer.next_cursor ?? null };
  });
  const { servers } = await readStatus(gateway);
  const words = new Map(servers.map((one) => [one.server, one.word]));
  return rows.map((row) => ({ ...row, word: words.get(row.server) ?? "" }));
}

async function tellPinned(gateway: GatewayClient): Promise<void> {
  const { tools: pinned } = await gateway.ask<typeof showPins>("GET /api/pins", {});
  for (const { tool_path: path, name, tokens, near } of pinned) {
    const meant = near.length === 0 ? "" : ` (${near.map(plainText).join(", ")}?)`;
    const text =
      name === null
        ? `pinned, but there is no such tool: ${plainText(path)}${meant}`
        : `pinned: ${plainText(path)} as ${name}, ~${countText(tokens ?? 0)} tokens in each conversation`;
    printText(process.stderr, `toolyard: ${text}`);
  }
}

/** `toolyard profiles`: what each has, and what its list costs. */
export async function profiles(context: CommandContext): Promise<number> {
  const gateway = await openStartedGateway(context);
  await waitForServers(gateway);
  const answer = await gateway.ask<typeof listProfiles>("GET /api/profiles", {});
  return printAnswer(context, answer, ({ profiles: all }) => {
    if (all.length === 0)
      return void process.stderr.write("there are no profiles; docs/profiles.md says how to make one\n");
    const rows = all.map(({ name, servers, tools: had, outside, tokens, tokens_exact: isExact, ...one }) => [
      ...[name, servers.map(plainText).join(", ") || "-", `${countText(had)} of ${countText(had + outside)}`],
      ...[`${isExact ? "" : "~"}${countText(tokens)}`, one.effects?.join(", ") ?? "any", one.exposure, one.path],
    ]);
    process.stdout.write(`${toTable(profileColumns, rows).join("\n")}\n`);
  });
}

const profileColumns: readonly Column[] = [
  ...[{ heading: "PROFILE" }, { heading: "SERVERS", fit: "wrap", least: 20 } as const, { heading: "TOOLS" }],
  ...[{ heading: "TOKENS", align: "right" } as const, { heading: "EFFECTS", rank: 2 }, { heading: "SHOWS", rank: 3 }],
  { heading: "PATH", rank: 1 },
];

interface ResourceRow {
  readonly isTemplate: boolean;
  /** As list_mcp_resources gives it. */
  readonly definition: JsonObject;
}

/** `toolyard resources [server]`: resources and templates of all servers, with URIs as `toolyard read` takes them. */
export async function resources(context: CommandContext): Promise<number> {
  return await printList<ResourceRow>(context, {
    columns: [
      { heading: "URI", fit: "wrap", least: 40 },
      { heading: "TYPE", rank: 3 },
      { heading: "NAME", rank: 2 },
      { heading: "DESCRIPTION", fit: "cut", rank: 1 },
    ],
    read: readResources,
    toCells: ({ isTemplate, definition }) => [
      toCell(textIn(definition, isTemplate ? "uriTemplate" : "uri"), 120),
      isTemplate ? "template" : toCell(textIn(definition, "mimeType") || "-", 40),
      toCell(textIn(definition, "title") || textIn(definition, "name"), 40),
      toCell(textIn(definition, "description"), 200),
    ],
    toJson: ({ definition }) => JSON.stringify(definition),
    nothing: "there is no such resource",
  });
}

async function readResources(gateway: GatewayClient, { server, match }: ListAsked): Promise<readonly ResourceRow[]> {
  const rows: ResourceRow[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { server, query: match, cursor };
    const page = await gateway.ask<typeof listResources>("GET /api/resources", { query });
    rows.push(...page.resources.map((definition) => ({ isTemplate: false, definition })));
    rows.push(...page.resource_templates.map((definition) => ({ isTemplate: true, definition })));
    if (page.nextCursor === undefined) return rows;
    cursor = page.nextCursor;
  }
}

function textIn(given: JsonObject, key: string): string {
  const value = given[key];
  return typeof value === "string" ? value : "";
}

/** `toolyard read <uri>`: reads a resource by any form of its URI, and prints or saves it. */
export async function read(context: CommandContext): Promise<number> {
  const [uri] = context.positionals;
  if (uri === undefined) return refuseUsage("which resource?", "toolyard read <uri> [options]");
  const gateway = await openStartedGateway(context);
  const query = { uri };
  const ask = async () => await gateway.text<typeof readOne>("GET /api/resources/read", { query });
  return await printResult(context, await whenListed(gateway, ask));
}

type PromptRow = TypesOf<typeof listPrompts>["answer"]["prompts"][number];

/** `toolyard prompts [server]`: prompts of all servers, under the names that clients see. */
export async function prompts(context: CommandContext): Promise<number> {
  return await printList<PromptRow>(context, {
    columns: [
      { heading: "PROMPT" },
      { heading: "SERVER", rank: 2 },
      { heading: "ARGUMENTS", fit: "wrap", least: 12, rank: 1 },
      { heading: "DESCRIPTION", fit: "cut" },
    ],
    async read(gateway, { server, match }) {
      const query = { server };
      const { prompts: all } = await gateway.ask<typeof listPrompts>("GET /api/prompts", { query });
      const matches = matcherOf(match);
      return all.filter(({ name, description }) => matches([name, description]));
    },
    toCells: ({ name, server, arguments: given = [], description }) => [
      toCell(name, 80),
      toCell(server, 40),
      toCell(
        given
          .filter(isJsonObject)
          .map((one) => `${String(one["name"])}${one["required"] === true ? "" : "?"}`)
          .join(", "),
        60,
      ),
      toCell(description ?? "", 200),
    ],
    toJson: (prompt) => JSON.stringify(prompt),
    nothing: "there is no such prompt",
  });
}
