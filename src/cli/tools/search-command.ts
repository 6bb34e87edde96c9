import { countText } from "../../kernel/text/number-text.ts";
import { degradedText, isWorse, placeText, unseenText, verdictOf } from "../../kernel/search-words.ts";
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
import type { keepOne, removeOne, runThem } from "../../operations/tools/kept-search-operations.ts";
import { toTable } from "../terminal/table.ts";

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
  const [server, profile] = [textOption(context, "server"), textOption(context, "profile")];
  const body = { query, limit, server, profile, explain };
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

type KeptLine = TypesOf<typeof runThem>["answer"]["searches"][number];

/** What `toolyard search` does with searches that are kept as tests; undefined where it is to search. */
async function doKept(context: CommandContext, query: string): Promise<number | undefined> {
  const tool = textOption(context, "keep");
  const id = textOption(context, "forget");
  const isChecking = isOn(context, "check");
  if ([tool !== undefined, id !== undefined, isChecking].filter(Boolean).length > 1)
    return refuseUsage("--keep, --check and --forget are one at a time", "toolyard search --check");
  if (tool !== undefined) return await keep(context, query.trim(), tool);
  if (id === undefined && !isChecking) return undefined;
  if (query !== "") return refuseUsage(`it takes no words: ${JSON.stringify(query)}`, "toolyard search --check");
  return id === undefined ? await check(context) : await forget(context, id);
}

const longestQuery = 1_000;

async function keep(context: CommandContext, query: string, tool: string): Promise<number> {
  const usage = 'toolyard search "words" --keep server:tool';
  if (query === "") return refuseUsage("keep a search for what?", usage);
  if (query.length > longestQuery) return refuseUsage(`these are more than ${longestQuery} characters`, usage);
  const gateway = await openStartedGateway(context);
  await waitForServers(gateway);
  const kept = await gateway.ask<typeof keepOne>("POST /api/searches", { body: { query, tool } });
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(kept)}\n`);
  else process.stdout.write(`kept: ${plainText(kept.tool)} is ${placeText(kept.rank)}\n`);
  if (!kept.toolExists)
    process.stderr.write(`toolyard: it is not known yet whether there is such a tool: ${unseenText}\n`);
  return 0;
}

async function forget(context: CommandContext, id: string): Promise<number> {
  const gateway = await openStartedGateway(context);
  await gateway.ask<typeof removeOne>("DELETE /api/searches/{id}", { params: { id } });
  process.stdout.write(isOn(context, "json") ? `${JSON.stringify({ removed: id })}\n` : "removed\n");
  return 0;
}

async function check(context: CommandContext): Promise<number> {
  const gateway = await openStartedGateway(context);
  await waitForServers(gateway);
  const { searches: all, degraded } = await gateway.ask<typeof runThem>("POST /api/searches/run", {});
  if (degraded !== null) process.stderr.write(`toolyard: found ${plainText(degradedText(degraded))}\n`);
  if (isOn(context, "json")) for (const kept of all) process.stdout.write(`${JSON.stringify(kept)}\n`);
  if (all.length === 0) {
    process.stderr.write('you keep no search as a test yet: toolyard search "words" --keep server:tool\n');
    return 0;
  }
  const worse = all.filter(isWorse).length;
  if (!isOn(context, "json")) process.stdout.write(`${toTable(keptColumns, all.map(toCells)).join("\n")}\n`);
  if (worse > 0) process.stderr.write(`toolyard: ${worse} of ${all.length} to look at\n`);
  return worse === 0 ? 0 : 1;
}

const keptColumns = [
  { heading: "OUTCOME" },
  { heading: "THEN", align: "right" },
  { heading: "NOW", align: "right" },
  { heading: "ID", rank: 1 },
  { heading: "TOOL" },
  { heading: "SEARCH", fit: "wrap" },
] as const;

function toCells(kept: KeptLine): readonly string[] {
  const { rank, rankNow } = kept;
  const place = (at: number | null): string => (at === null ? "-" : String(at));
  const verdict = verdictOf(kept);
  return [verdict, place(rank), place(rankNow), kept.id, toCell(kept.tool, 80), toCell(kept.query, 120)];
}
