import { countText } from "../../kernel/text/number-text.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { showUsage } from "../../operations/records/usage-operations.ts";
import type { showServer } from "../../operations/servers/server-detail-operations.ts";
import type { showTool } from "../../operations/tools/tool-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { columnsOf, wrapText } from "../terminal/fitted-text.ts";
import { plainLines, plainText } from "../../kernel/text/plain-text.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { openStartedGateway, whenListed } from "../gateway/started-gateway.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { readStatus } from "../gateway/gateway-client.ts";

type Server = TypesOf<typeof showServer>["answer"];
type Tool = TypesOf<typeof showTool>["answer"];

/** `toolyard show <tool|server>`: all that is known of one tool, or of one server. */
export async function show(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  if (name === undefined) return refuseUsage("which tool or server?", "toolyard show <tool|server> [options]");
  const gateway = await openStartedGateway(context);
  const server = await findServer(gateway, name);
  if (server !== undefined) {
    const standing = await standingOf(gateway, server.slug);
    const shown = { ...server, ...standing };
    process.stdout.write(`${isOn(context, "json") ? JSON.stringify(shown) : toServerText(server, standing)}\n`);
    return 0;
  }
  const text = await readTool(gateway, name);
  const tool = JSON.parse(text) as Tool;
  const facts = { ...(await standingOf(gateway, tool.server)), use: await readUse(gateway, tool.tool_path) };
  process.stdout.write(`${isOn(context, "json") ? withFacts(text, facts) : toText(tool, facts)}\n`);
  return 0;
}

/** The text of the answer. Rejects with TOOL_UNKNOWN. */
export async function readTool(gateway: GatewayClient, path: string): Promise<string> {
  const ask = async () => await gateway.text<typeof showTool>("GET /api/tools/{path}", { params: { path } });
  return await whenListed(gateway, ask);
}

async function findServer(gateway: GatewayClient, slug: string): Promise<Server | undefined> {
  return await gateway
    .ask<typeof showServer>("GET /api/servers/{slug}", { params: { slug } })
    .catch((error: unknown) => {
      if (toGatewayError(error).code === "SERVER_UNKNOWN") return undefined;
      throw error;
    });
}

/** How its server is, in words for people. */
interface Standing {
  readonly word: string;
  readonly reason: string;
}

async function standingOf(gateway: GatewayClient, slug: string): Promise<Standing> {
  const { servers } = await readStatus(gateway);
  const { word = "", reason = "" } = servers.find(({ server }) => server === slug) ?? {};
  return { word, reason };
}

/** Of the last 24 hours; null where that cannot be told. */
interface Facts extends Standing {
  readonly use: { readonly calls: number; readonly errors: number } | null;
}

async function readUse(gateway: GatewayClient, tool: string): Promise<Facts["use"]> {
  const report = await gateway.ask<typeof showUsage>("GET /api/usage", { query: { tool } }).catch(() => undefined);
  if (report === undefined) return null;
  const sum = (of: "calls" | "errors"): number => report.usage.reduce((all, one) => all + one[of], 0);
  return { calls: sum("calls"), errors: sum("errors") };
}

/** The answer stays the text that it is, because its numbers may be larger than JavaScript's. */
function withFacts(text: string, facts: Facts): string {
  return `${JSON.stringify(facts).slice(0, -1)},${text.trim().slice(1)}`;
}

function toServerText(server: Server, { word, reason }: Standing): string {
  const { version, eras, handshake, oddities, offers, sandbox, slug, displayName } = server;
  const resources = offers.resources + offers.templates;
  const facts: readonly (readonly [string, string])[] = [
    ["status", `${word}${reason === "" ? "" : `: ${plainText(reason)}`}`],
    ["version", plainText(version ?? "not known")],
    ["protocol", eras.length === 0 ? "not known" : eras.join(", ")],
    ["offers", `${server.shownTools} tools, ${resources} resources, ${offers.prompts} prompts`],
    ...rowsOf(
      "handshake",
      handshake.map(({ step, why }) => `${step} failed: ${why}`),
    ),
    ...rowsOf("replicas", server.replicas.map(toReplicaText)),
    ...rowsOf("odd", oddities),
    ...rowsOf("sandbox", sandbox === null ? [] : sandboxLines(slug, sandbox)),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    `${plainText(slug)}${displayName === slug ? "" : `: ${plainText(displayName)}`}`,
    ...facts.flatMap(([name, text]) => toFactLines(name.padEnd(width), text)),
  ].join("\n");
}

function toReplicaText({ name, isUp, pid, inFlight, why }: Server["replicas"][number]): string {
  const process = pid === null ? "" : ` (process ${pid})`;
  const calls = inFlight === 1 ? "1 call in flight" : `${inFlight} calls in flight`;
  return `${name}${process}: ${isUp ? "up" : "down"}, ${calls}${why === null ? "" : `; ${why}`}`;
}

function sandboxLines(slug: string, { reaches, unconfinedWhy, denied }: NonNullable<Server["sandbox"]>): string[] {
  if (unconfinedWhy !== null) return [`not sandboxed: ${unconfinedWhy}`];
  const kept = denied.map(({ host, port, why }) => `kept from ${port === null ? host : `${host}:${port}`}: ${why}`);
  const hint = `To allow a host: toolyard sandbox allow ${slug} HOST`;
  return [`sandboxed. ${reaches.join(" ")}`, ...kept, ...(kept.length === 0 ? [] : [hint])];
}

function toFactLines(name: string, text: string): readonly string[] {
  return wrapText(`${name}  ${text}`, columnsOf(process.stdout), " ".repeat(name.length + 2));
}

function rowsOf(name: string, texts: readonly string[]): (readonly [string, string])[] {
  return texts.map((text, at) => [at === 0 ? name : "", plainText(text)]);
}

function toText(tool: Tool, { word, reason, use }: Facts): string {
  const { tool_path: path, input, server, tokens, spellings, definition } = tool;
  const [title, description] = [textIn(definition, "title"), textIn(definition, "description")];
  const status =
    `${server} is ${word}` + (reason === "" || word === "online" || word === "asleep" ? "" : `: ${plainText(reason)}`);
  const facts: readonly (readonly [string, string])[] = [
    ["takes", plainText(input)],
    ["effect", `${tool.effect}: ${plainText(tool.because)}${tool.asks ? "; each call asks a person" : ""}`],
    ["says", hintsOf(definition)],
    ["also called", [spellings.flat, spellings.double_underscore, spellings.dot].map(plainText).join(", ")],
    ["tokens", `~${countText(tokens)} where its definition is listed`],
    ["server", status],
    ["use", useOf(use)],
    ...tool.phrases.map((phrase, at): readonly [string, string] => [at === 0 ? "people say" : "", plainText(phrase)]),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    `${plainText(path)}${title === undefined ? "" : `: ${plainText(title)}`}`,
    ...plainLines(description ?? "no description").flatMap((line) =>
      wrapText(`  ${line}`, columnsOf(process.stdout), "  "),
    ),
    "",
    ...facts.flatMap(([name, text]) => toFactLines(name.padEnd(width), text)),
  ].join("\n");
}

function textIn(given: JsonObject, key: string): string | undefined {
  const value = given[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function useOf(use: Facts["use"]): string {
  if (use === null) return "not known";
  if (use.calls === 0) return "not called in 24 h";
  return (
    `${countText(use.calls)} ${use.calls === 1 ? "call" : "calls"} in 24 h` +
    (use.errors === 0 ? "" : `, ${countText(use.errors)} failed`)
  );
}

/** Its annotations, which are what the server says of it, and unchecked. */
function hintsOf({ annotations }: JsonObject): string {
  if (!isJsonObject(annotations)) return "nothing about what it does";
  const hints = [
    ["readOnlyHint", "reads only", "changes something"],
    ["destructiveHint", "may destroy", "destroys nothing"],
    ["idempotentHint", "may be repeated", "should not be repeated"],
    ["openWorldHint", "reaches the outside world", "stays in its own world"],
  ] as const;
  const said = hints.flatMap(([key, yes, no]) => {
    const value = annotations[key];
    return typeof value === "boolean" ? [value ? yes : no] : [];
  });
  return said.length === 0 ? "nothing about what it does" : said.join(", ");
}
