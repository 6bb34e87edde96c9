import { sleep } from "../../kernel/runtime/abort.ts";
import { countText } from "../../kernel/text/number-text.ts";
import { toCsv } from "../../operations/records/csv.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import {
  type AuditCheck,
  auditColumns,
  type AuditJson,
  auditToCells,
  auditToJson,
  auditToLine,
  toCheck,
} from "../../records/audit/audit-history.ts";
import { type CommandContext, servedBy } from "../command/command-context.ts";
import { interrupted, whileWaiting } from "../terminal/waiting-line.ts";
import { givenOption, isOn, textOption } from "../../config/given.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { misused } from "../terminal/wrong-usage.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { listAudit, verifyAudit } from "../../operations/records/audit-operations.ts";
import { openDataDirectory, readConfig, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import { type GatewayClient, openGatewayClient, ownersClient } from "../gateway/gateway-client.ts";
import { openUnservedStore } from "../gateway/unserved-store.ts";

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

/** What is asked of the audit. */
interface AuditRequest {
  /** 1 to 1,000. */
  readonly limit: number;
  readonly before?: number | undefined;
  /** Only those behind this place. */
  readonly after?: number | undefined;
  readonly action?: string | undefined;
}

interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditJson[];
  readonly next: number | null;
}

/** Where a command reads the audit: from the gateway that runs, or from its files while none does. */
interface AuditSource extends AsyncDisposable {
  /** Whether entries come while it is read. */
  readonly isLive: boolean;
  page(request: AuditRequest): Promise<AuditPage>;
  verify(): Promise<AuditCheck>;
  /** All entries, newest first. A gateway writes into the audit that it was exported. */
  exported(action: string | undefined): AsyncGenerator<AuditJson, void>;
}

/** Rejects with GATEWAY_AMBIGUOUS, and with STORE_UNAVAILABLE where there is no audit. */
async function openAuditSource(context: CommandContext): Promise<AuditSource> {
  try {
    return askGateway(await openGatewayClient(context));
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "GATEWAY_UNREACHABLE") throw error;
    if (textOption(context, "gateway") !== undefined) throw error;
    return await openFiles(context);
  }
}

function askGateway(gateway: GatewayClient): AuditSource {
  return {
    isLive: true,
    async page({ limit, before, after, action }) {
      const query = { limit: String(limit), cursor: toCursor(before), after: toCursor(after), action };
      const { entries, nextCursor } = await gateway.ask<typeof listAudit>("GET /api/audit", { query });
      return { entries, next: nextCursor === null ? null : Number(nextCursor) };
    },
    verify: async () => await gateway.ask<typeof verifyAudit>("GET /api/audit/verify", {}),
    async *exported(action) {
      // So many at once: what comes behind them is asked for again.
      for (let cursor: string | undefined, read = mostExported; read === mostExported;) {
        read = 0;
        const query = { action, cursor };
        for await (const line of gateway.lines({ path: "/api/audit", query, accept: "application/x-ndjson" })) {
          const entry = JSON.parse(line) as AuditJson;
          read += 1;
          cursor = String(entry.seq);
          yield entry;
        }
      }
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Rows of one export. */
const mostExported = 100_000;

function toCursor(place: number | undefined): string | undefined {
  return place === undefined ? undefined : String(place);
}

/** Holds the gateway's lock meanwhile, so that no gateway opens the same files. */
async function openFiles(context: CommandContext): Promise<AuditSource> {
  const config = await readConfig(context);
  const place = storeIn(openDataDirectory(config, context), context).lock.placeOf(servedBy(config, context));
  // One elsewhere is not looked for among the files.
  const check = config.settings.database === undefined ? requireAudit : () => undefined;
  check(place);
  const store = await openUnservedStore(context, config, check);
  if (!("records" in store)) return askGateway(ownersClient(store));
  const { records } = store;
  const page: AuditSource["page"] = async (asked) => {
    const { rows, next } = await records.audits(asked);
    return { entries: rows.map(auditToJson), next };
  };
  return {
    isLive: false,
    page,
    async *exported(action) {
      for (let before: number | undefined | null; before !== null;) {
        const { entries, next } = await page({ limit: 1_000, before, action });
        yield* entries;
        before = next;
      }
    },
    verify: async () => toCheck(await records.verifyAudit(), 0),
    [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose](),
  };
}

function requireAudit(folder: string): void {
  if (!existsSync(join(folder, "state.db"))) throw noAudit();
}

function noAudit(): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "no gateway runs with this configuration, and none has left an audit", {
    hint: "Name the configuration with --config, or start the gateway with `toolyard serve`.",
  });
}
