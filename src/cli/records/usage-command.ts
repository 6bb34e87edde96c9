import { countText } from "../../kernel/text/number-text.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { showUsage, showTokens } from "../../operations/records/usage-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption, typedTeam } from "../../config/given.ts";
import { openGatewayClient, gatewayText, openGatewayClients } from "../gateway/gateway-client.ts";
import { toCell, toClockText, toMsText } from "../terminal/record-cells.ts";
import { toTable } from "../terminal/table.ts";
import { columnsOf, wrapText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";

/** `toolyard usage`: sums of the calls of the running gateway. */
export async function usage(context: CommandContext): Promise<number> {
  const days = toNumber("days", textOption(context, "days") ?? "1", 400);
  const by = (textOption(context, "by") ?? "server").split(",").map((name) => name.trim());
  const query = {
    by: by.join(","),
    from: new Date(Date.now() - days * dayMs).toISOString(),
    limit: String(toNumber("limit", textOption(context, "limit") ?? "1000", 10_000)),
    server: textOption(context, "server"),
    tool: textOption(context, "tool"),
    team: typedTeam(context),
  };
  const gateway = await openGatewayClient(context);
  const report = await gateway.ask<typeof showUsage>("GET /api/usage", { query });
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(report)}\n`);
  else show(report);
  return 0;
}

const dayMs = 86_400_000;
type UsageReport = TypesOf<typeof showUsage>["answer"];

/** Throws CONFIG_INVALID. */
function toNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  throw new GatewayError("CONFIG_INVALID", `--${option}: expected a whole number from 1 to ${most}`, {
    hint: `For example \`--${option} 7\`.`,
  });
}

function show({ by, usage: sums, names, since, from }: UsageReport): void {
  if (sums.length === 0) return void process.stderr.write("nothing was called\n");
  const now = new Date();
  const figures = ["CALLS", "FAILED", "MEAN", "LONGEST", "TOKENS IN", "OUT"] as const;
  const importance = [0, 0, 1, 2, 3, 3];
  const columns = [
    ...by.map((dimension) => ({ heading: dimension.toUpperCase(), fit: "wrap" as const })),
    ...figures.map((heading, at) => ({ heading, align: "right" as const, rank: importance[at] ?? 0 })),
  ];
  const rows = sums.map((sum) => [
    ...by.map((dimension) => toGroup(dimension, sum.group[dimension] ?? null, { names, now })),
    countText(sum.calls),
    countText(sum.errors),
    toMsText(sum.calls === 0 ? 0 : sum.durationMs.sum / sum.calls),
    toMsText(sum.durationMs.max),
    countText(sum.argumentTokens),
    countText(sum.resultTokens),
  ]);
  process.stdout.write(`${toTable(columns, rows).join("\n")}\n`);
  if (since !== null && since > from) process.stderr.write(`what was before ${toClockText(since, now)} is not known\n`);
}

const longestName = 60;

function toGroup(
  dimension: string,
  value: string | null,
  { names, now }: { readonly names: UsageReport["names"]; readonly now: Date },
): string {
  if (value === null) return "-";
  if (dimension === "day") return value.slice(0, 10);
  if (dimension === "hour") return toClockText(value, now).slice(0, -3);
  if (dimension === "code" && value === "") return "ok";
  return toCell(dimension === "principal" ? (names[value] ?? value) : value, longestName);
}

type TokenReport = TypesOf<typeof showTokens>["answer"];

/** `toolyard tokens`: what definitions cost, of the gateway that is meant or of all that run. */
export async function tokens(context: CommandContext): Promise<number> {
  for (const { gateway, holder } of await openGatewayClients(context)) {
    const query = { wait: "10" };
    const ask = async () => await gateway.ask<typeof showTokens>("GET /api/usage/tokens", { query });
    const report = await whileWaiting("Counting tokens", ask);
    if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(report)}\n`);
    else process.stdout.write(`${gatewayText(gateway, holder)}\n${toText(report)}`);
  }
  return 0;
}

function toText(report: TokenReport): string {
  const { servers, flat, here, savedAtStart, spentOnFinding: spent, sessions, phrases, enrichment } = report;
  const table = toServerTable(servers);
  const facts: readonly (readonly [string, string])[] = [
    ...toColumn([
      ["flat: the list of /mcp/flat", toTokens(flat)],
      [`here: the list of /mcp (${here.exposure})`, toTokens(here)],
      ["saved at the start of a conversation", toTokens(savedAtStart)],
      [`spent on finding since ${toTime(spent.sinceMs)}`, toTokens({ tokens: spent.tokens, isExact: false })],
    ]),
    ["", `${countText(spent.answers)} answers of discover_mcp_tools: ${countText(spent.answerTokens)}`],
    ["", `${countText(spent.wrappedCalls)} calls through execute_mcp_tool: ${countText(spent.wrappingTokens)}`],
    [`net per session, of ${countText(sessions.count)} ${toSince(sessions.sinceMs)}`, toNet(sessions)],
    ...sessions.unknown.map(({ client, sessions: count }): readonly [string, string] => [
      "",
      `unknown for ${countText(count)} of ${plainText(client)}, which loads definitions only when they are needed`,
    ]),
    ["tools with phrases", toPhrases(phrases)],
    ...(enrichment === null ? [] : toEnrichment(enrichment)),
  ];
  const width = Math.max(...facts.map(([label]) => label.length));
  const hanging = " ".repeat(width + 4);
  const lines = facts.flatMap(([label, value]) =>
    wrapText(`  ${label.padEnd(width)}  ${value}`, columnsOf(process.stdout), hanging),
  );
  return `${[...table, "", ...lines, "", "  Counted as o200k counts; other models differ by up to 10 to 20 %."].join("\n")}\n`;
}

/** The largest first, with their sum; of servers that nothing is known of, only how many there are. */
function toServerTable(servers: TokenReport["servers"]): readonly string[] {
  const known = servers.filter(({ isKnown }) => isKnown).toSorted((one, other) => other.tokens - one.tokens);
  const unknown = servers.filter(({ isKnown }) => !isKnown);
  const total = {
    tokens: known.reduce((sum, { tokens: count }) => sum + count, 0),
    isExact: known.every(({ isExact }) => isExact),
  };
  const tools = known.reduce((sum, server) => sum + server.tools, 0);
  return toTable(
    [{ heading: "  SERVER" }, { heading: "TOOLS", align: "right" }, { heading: "TOKENS", align: "right" }],
    [
      ...known.map((server) => [`  ${plainText(server.server)}`, countText(server.tools), toTokens(server)]),
      ...unknown.map(({ server }) => [`  ${plainText(server)}`, "-", "not known"]),
      ["  total", countText(tools), toTokens(total)],
    ],
  );
}

/** Numbers below each other, so that they can be compared. */
function toColumn(facts: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  const width = Math.max(...facts.map(([, value]) => value.length));
  return facts.map(([label, value]) => [label, value.padStart(width)]);
}

function toNet({ medianNet, worstNet, isExact }: TokenReport["sessions"]): string {
  if (medianNet === null || worstNet === null) return "not known yet";
  return `median ${toTokens({ tokens: medianNet, isExact })}, worst ${toTokens({ tokens: worstNet, isExact })}`;
}

function toPhrases({ none, ...sources }: TokenReport["phrases"]): string {
  const written = Object.entries(sources).filter(([, tools]) => tools > 0);
  const sum = written.reduce((tools, [, more]) => tools + more, 0);
  const from = written.map(([source, tools]) => `${source} ${countText(tools)}`).join(", ");
  return `${countText(sum)} of ${countText(sum + none)}${from === "" ? "" : `: ${from}`}`;
}

function toEnrichment(report: NonNullable<TokenReport["enrichment"]>): readonly (readonly [string, string])[] {
  const { promptTokens, answerTokens, isExact, asked, failed, waiting, state } = report;
  const both = toTokens({ tokens: promptTokens + answerTokens, isExact });
  return [
    ["spent on writing phrases", `${both} (prompts ${countText(promptTokens)}, answers ${countText(answerTokens)})`],
    [
      "",
      `${countText(asked)} asked for, ${countText(failed)} without an answer of use, ${countText(waiting)} to ` +
        `come; ${state}`,
    ],
  ];
}

/** An estimate is marked. */
function toTokens({ tokens: count, isExact }: { readonly tokens: number; readonly isExact: boolean }): string {
  return `${isExact || count === 0 ? "" : "~"}${countText(count)}`;
}

/** Sessions of the last thirty days, over restarts. */
function toSince(ms: number | null): string {
  return ms === null ? "in 30 days" : `since ${new Date(ms).toISOString().slice(0, 10)}`;
}

function toTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 16)} UTC`;
}
