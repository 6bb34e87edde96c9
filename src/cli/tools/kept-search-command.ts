import { degradedText, isWorse, placeText, unseenText, verdictOf } from "../../kernel/search-words.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { keepOne, removeOne, runThem } from "../../operations/tools/kept-search-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { openStartedGateway, waitForServers } from "../gateway/started-gateway.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { isOn, textOption } from "../../config/given.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell } from "../terminal/record-cells.ts";
import { toTable } from "../terminal/table.ts";

type KeptLine = TypesOf<typeof runThem>["answer"]["searches"][number];

/** What `toolyard search` does with searches that are kept as tests; undefined where it is to search. */
export async function doKept(context: CommandContext, query: string): Promise<number | undefined> {
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
  if (!isOn(context, "json")) process.stdout.write(`${toTable(columns, all.map(toCells)).join("\n")}\n`);
  if (worse > 0) process.stderr.write(`toolyard: ${worse} of ${all.length} to look at\n`);
  return worse === 0 ? 0 : 1;
}

const columns = [
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
