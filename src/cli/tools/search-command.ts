import { doKept } from "./kept-search-command.ts";
import { countText } from "../../kernel/text/number-text.ts";
import { degradedText } from "../../kernel/search-words.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { trySearch } from "../../operations/tools/search-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { clipText, columnsOf, printText, widthOf } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell, toMsText } from "../terminal/record-cells.ts";
import { openStartedGateway, waitForServers } from "../gateway/started-gateway.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { toReasons } from "./search-reasons.ts";

type SearchReport = TypesOf<typeof trySearch>["answer"];
type ReportedTool = SearchReport["queries"][number]["tools"][number];

/** `toolyard search "…"`: what a model that asks this is offered. Teaches the search nothing. */
export async function search(context: CommandContext): Promise<number> {
  const query = context.positionals.join(" ");
  const kept = await doKept(context, query);
  if (kept !== undefined) return kept;
  if (query.trim() === "") return refuseUsage("search for what?", 'toolyard search "words" [options]');
  const limit = textOption(context, "limit");
  if (limit !== undefined && !/^([1-9]|[1-4]\d|50)$/.test(limit))
    return refuseUsage(`--limit: ${JSON.stringify(limit)} is no number from 1 to 50`, "toolyard search --limit 20 …");
  const explain = isOn(context, "explain");
  const gateway = await openStartedGateway(context);
  await waitForServers(gateway);
  const body = { query, limit, server: textOption(context, "server"), explain };
  const report = await gateway.ask<typeof trySearch>("POST /api/search", { body });
  if (report.failed !== null) throw new GatewayError("SEARCH_FAILED", report.failed);
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(report)}\n`);
  else print(report, explain);
  return 0;
}

function print(report: SearchReport, isExplained: boolean): void {
  const [found] = report.queries;
  const tools = found?.tools ?? [];
  for (const [at, tool] of tools.entries())
    process.stdout.write(`${toLines(tool, at, tools, isExplained).join("\n")}\n`);
  for (const { server, status, reason } of report.unavailable)
    printText(
      process.stderr,
      `toolyard: cannot be used now: ${server} (${status}${reason === "" ? "" : `: ${plainText(reason)}`})`,
    );
  if (tools.length === 0) {
    process.stderr.write("nothing fits; `toolyard tools` lists everything\n");
    return;
  }
  if (isExplained && tools.every(({ explanation }) => explanation === undefined))
    process.stderr.write(`toolyard: the engine ${report.engine ?? ""} cannot say why it found them\n`);
  printText(process.stdout, "The number beside a tool is a distance: 0 is a perfect match, 1 is none.");
  printText(process.stdout, toSummary(report, tools.length));
}

function toSummary(report: SearchReport, shown: number): string {
  const [found] = report.queries;
  return [
    `${shown} of ${countText(found?.total_found ?? 0)}`,
    `${found?.match ?? "unknown"} match`,
    toMsText(report.search_time_ms),
    `~${countText(report.answer_tokens)} tokens for a model`,
    ...(report.query_cut ? ["only the beginning of the question was searched"] : []),
    ...(report.degraded === null ? [] : [degradedText(report.degraded)]),
  ].join(", ");
}

const widestLine = 160;

function toLines(
  tool: ReportedTool,
  at: number,
  tools: readonly ReportedTool[],
  isExplained: boolean,
): readonly string[] {
  const width = Math.max(...tools.map(({ tool_path: path }) => path.length));
  const rank = String(at + 1).padStart(String(tools.length).length);
  const columns = columnsOf(process.stdout);
  const head = `${rank}  ${plainText(tool.tool_path).padEnd(width)}  ${tool.relevance_score.toFixed(2)}`;
  const input = toCell(tool.input, widestLine);
  const indent = " ".repeat(rank.length + 2);
  const isBeside = widthOf(head) + 2 + widthOf(input) <= columns;
  const below = [
    ...(isBeside ? [] : [input]),
    toCell(tool.description, widestLine),
    ...(isExplained && tool.explanation !== undefined ? toReasons(tool.explanation, columns).map(plainText) : []),
  ];
  return [isBeside ? `${head}  ${input}` : head, ...below.map((line) => clipText(indent + line, columns))];
}
