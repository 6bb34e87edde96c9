import { countText } from "../../kernel/text/number-text.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { showTokens } from "../../operations/records/usage-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { gatewayText, openGatewayClients } from "../gateway/gateway-client.ts";
import { columnsOf, wrapText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toTable } from "../terminal/table.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";

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
