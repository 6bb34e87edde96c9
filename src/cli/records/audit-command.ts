import { sleep } from "../../kernel/runtime/abort.ts";
import { countText } from "../../kernel/text/number-text.ts";
import { toCsv } from "../../operations/records/csv.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { auditColumns, auditToCells, auditToLine, type AuditJson } from "../../records/audit/audit-history.ts";
import { openAuditSource, type AuditSource } from "./audit-source.ts";
import type { CommandContext } from "../command/command-context.ts";
import { interrupted, whileWaiting } from "../terminal/waiting-line.ts";
import { givenOption, isOn, textOption } from "../../config/given.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { misused } from "../terminal/wrong-usage.ts";

interface Task {
  readonly run: (source: AuditSource, context: CommandContext) => Promise<number>;
  /** Options that say nothing to it: somebody who gives them expects something else. */
  readonly without: readonly string[];
}

const tasks: Readonly<Record<string, Task>> = {
  list: { run: list, without: ["format"] },
  verify: { run: verify, without: ["follow", "limit", "action", "format"] },
  export: { run: exportAll, without: ["follow"] },
};

/** `toolyard audit`, `audit verify`, `audit export`. Verifying ends with 1 where the chain is broken. */
export async function audit(context: CommandContext): Promise<number> {
  const [name = "list"] = context.positionals;
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
  const format = textOption(context, "format");
  const isFormat = format === undefined || format === "ndjson" || format === "csv";
  if (task === undefined || !isFormat || task.without.some((option) => context.flags[option] !== undefined))
    return misused("audit [--follow] [--limit N] [--action A], audit verify, or audit export [--format ndjson|csv]");
  await using source = await openAuditSource(context);
  return await task.run(source, context);
}

const standardLines = 50;
const followedLines = 10;
/** Entries come from several gateways of one database, so that they are looked for. */
const lookMs = 1_000;
/** As many as the store gives at once. */
const mostPerPage = 1_000;

async function list(source: AuditSource, context: CommandContext): Promise<number> {
  if (isOn(context, "follow")) return await follow(source, context);
  await print(source, { context, limit: readLimit(context) ?? standardLines });
  return 0;
}

/** Returns the place of the newest; undefined where there is none. */
async function print(source: AuditSource, wanted: Wanted): Promise<number | undefined> {
  const isJson = isOn(wanted.context, "json");
  const entries: AuditJson[] = [];
  for await (const page of pages(source, wanted)) entries.push(...page);
  // The newest is last, next to the prompt.
  for (const entry of entries.toReversed())
    if (isJson) process.stdout.write(auditToLine(entry));
    else printText(process.stdout, toLine(entry), "    ");
  return entries[0]?.seq;
}

/** Until the gateway ends, or the command is interrupted. */
async function follow(source: AuditSource, context: CommandContext): Promise<number> {
  if (!source.isLive)
    throw new GatewayError("GATEWAY_UNREACHABLE", "no gateway runs whose audit could be followed", {
      hint: "Without --follow, the files are read.",
    });
  const signal = interrupted();
  let last = await print(source, { context, limit: readLimit(context) ?? followedLines });
  for (;;) {
    try {
      await sleep(lookMs, signal);
      last = (await print(source, { context, limit: Number.POSITIVE_INFINITY, after: last ?? 0 })) ?? last;
    } catch (error) {
      if (signal.aborted || (error instanceof GatewayError && error.code === "GATEWAY_UNREACHABLE")) return 0;
      throw error;
    }
  }
}

async function exportAll(source: AuditSource, context: CommandContext): Promise<number> {
  const format = textOption(context, "format") ?? "ndjson";
  if (format === "csv") process.stdout.write(toCsv([auditColumns]));
  const limit = readLimit(context) ?? Number.POSITIVE_INFINITY;
  let written = 0;
  const write = async (): Promise<void> => {
    for await (const entry of source.exported(textOption(context, "action"))) {
      process.stdout.write(format === "csv" ? toCsv([auditToCells(entry)]) : auditToLine(entry));
      written += 1;
      if (written >= limit) return;
    }
  };
  // On a terminal the entries themselves show that it goes on.
  if (process.stdout.isTTY) await write();
  else await whileWaiting(() => `Reading the audit: ${countText(written)} entries`, write);
  return 0;
}

async function verify(source: AuditSource, context: CommandContext): Promise<number> {
  const check = await whileWaiting("Checking the audit", async () => await source.verify());
  const { isWhole, entries, pruned, brokenAt, reason, last, lost } = check;
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(check)}\n`);
  else if (isWhole) process.stdout.write(`${entries} entries, none changed or removed; the last is ${String(last)}\n`);
  else
    process.stdout.write(
      `broken at entry ${String(brokenAt)}: ${plainText(reason ?? "")}; ${entries} before it are whole\n`,
    );
  if (!isOn(context, "json") && pruned !== null)
    process.stdout.write(
      `it begins after entry ${pruned.seq} (${pruned.hash}): those up to it were removed on ` +
        `${pruned.time.slice(0, 10)} for their age\n`,
    );
  if (lost > 0) process.stderr.write(`toolyard: ${lost} entries could not be written since the gateway started\n`);
  return isWhole ? 0 : 1;
}

interface Wanted {
  readonly context: CommandContext;
  readonly limit: number;
  /** Only entries behind this place. */
  readonly after?: number | undefined;
}

/** Newest first. */
async function* pages(
  source: AuditSource,
  { context, limit, after }: Wanted,
): AsyncGenerator<readonly AuditJson[], void> {
  const action = textOption(context, "action");
  let left = limit;
  for (let before: number | undefined; left > 0;) {
    const { entries, next } = await source.page({ limit: Math.min(left, mostPerPage), before, after, action });
    yield entries;
    left -= entries.length;
    if (next === null) return;
    before = next;
  }
}

function readLimit(context: CommandContext): number | undefined {
  const given = givenOption(context, "limit");
  if (given === undefined) return undefined;
  const limit = /^\d{1,9}$/.test(given.text) ? Number(given.text) : 0;
  if (limit >= 1) return limit;
  throw new GatewayError("CONFIG_INVALID", `${given.name}: expected a whole number from 1`, {
    hint: "Say how many of the newest entries you want.",
  });
}

/** `2026-11-21 12:34:56  17  ok  ann  server.restart  files  127.0.0.1  {...}` */
function toLine({ seq, time, outcome, actor, action, object, ip, detail }: AuditJson): string {
  const facts = [
    time.slice(0, 19).replace("T", " "),
    String(seq).padStart(5),
    outcome.padEnd(6),
    actor.padEnd(12),
    action.padEnd(16),
    object,
    ip ?? "",
    detail === "{}" ? "" : detail,
  ];
  return plainText(facts.filter((fact) => fact !== "").join("  "));
}
