import { once } from "node:events";
import type { Duplex } from "node:stream";
import { sleep } from "../../kernel/runtime/abort.ts";
import type { EventOf, GatewayEvent } from "../../kernel/events/event.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { callToJson, logToJson, type CallJson, type LogJson } from "../../records/calls/record-json.ts";
import { levelOf } from "../../records/calls/server-lines.ts";
import type { Reader } from "../../records/calls/record-history.ts";
import { logLevels, type LogLevel, type ServerLogLine } from "../../store/record-rows.ts";
import type { Page, PageQuery } from "../../store/record-store.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { countLostLines, type LostLines } from "./log-gaps.ts";
import { untilReaderLeaves } from "./reader-gone.ts";

/** One line of the answer to `calls` and `logs`. */
export interface RecordLine {
  readonly ok: boolean;
  readonly message?: string;
  readonly hint?: string;
  readonly call?: CallJson;
  readonly log?: LogJson;
  /** Some are left out here: more happened than could be sent. */
  readonly missed?: boolean;
  /** So many lines of servers are lost: they were written, and not kept until they could be sent. */
  readonly lost?: number;
  /** This was all. */
  readonly end?: boolean;
}

/** What the commands `calls` and `logs` ask for. */
export interface RecordsCommand {
  readonly command: "calls" | "logs";
  /** Slug of a server, its name in the configuration, or the id of an instance. */
  readonly server: string | undefined;
  readonly tool: string | undefined;
  readonly failed: boolean;
  readonly level: string | undefined;
  /** How many of those that there are already, the newest. */
  readonly limit: number;
  /** Whether to go on with those that come. */
  readonly follow: boolean;
}

const mostRows = 10_000;

/** Undefined for every other command. */
export function readRecordsCommand(given: JsonObject): RecordsCommand | undefined {
  const { command, failed, follow, limit } = given;
  if (command !== "calls" && command !== "logs") return undefined;
  return {
    command,
    server: textIn(given, "server"),
    tool: textIn(given, "tool"),
    level: textIn(given, "level"),
    failed: failed === true,
    follow: follow === true,
    limit: typeof limit === "number" ? Math.min(mostRows, Math.max(0, Math.trunc(limit))) : 0,
  };
}

function textIn(given: JsonObject, name: string): string | undefined {
  const value = given[name];
  return typeof value === "string" ? value : undefined;
}

type Gateway = Pick<GatewayParts, "standing" | "fleet" | "events">;

/**
 * Sends what was recorded, one row per line and the oldest first, then those that come, until the signal aborts or the
 * gateway ends. Never rejects: a failure is a line too.
 */
export async function sendRecords(
  gateway: Gateway,
  asked: RecordsCommand,
  socket: Duplex,
  closed: AbortSignal,
): Promise<void> {
  const signal = untilReaderLeaves(socket, closed);
  const send = async (line: RecordLine): Promise<void> => {
    if (!socket.write(`${JSON.stringify(line)}\n`)) await once(socket, "drain", { signal });
  };
  try {
    const feed = asked.command === "calls" ? feedOfCalls(gateway, asked) : feedOfLogs(gateway, asked);
    const { rows } = await readBack(feed, { limit: asked.limit });
    for (const row of rows) await send(feed.toLine(row));
    if (asked.follow) await follow(feed, { gateway, last: rows.at(-1)?.id, send, signal });
    await send({ ok: true, end: true });
  } catch (error) {
    const { code, message, hint } = toGatewayError(error);
    if (signal.aborted || code === "DRAINING") return;
    socket.write(`${JSON.stringify({ ok: false, message, hint } satisfies RecordLine)}\n`);
  }
}

interface Numbered {
  readonly id: number;
}

interface Feed<Row extends Numbered> {
  /** Tells that there may be more. */
  readonly event: GatewayEvent["type"];
  readonly read: (page: PageQuery) => Promise<Page<Row>>;
  readonly toLine: (row: Row) => RecordLine;
  /** Begins to count lost lines. Undefined where none are lost but those that are `missed`. */
  readonly countLost?: () => Omit<LostLines, "end"> & { end(found: readonly Row[]): number };
}

/** The owner of the data directory can read the database itself. */
const owner: Reader = Object.freeze({ id: "local", calls: "all", contents: "all", logs: "all" });

function feedOfCalls(gateway: Gateway, { server, tool, failed }: RecordsCommand): Feed<Numbered> {
  const { history } = gateway.standing;
  const filters = { ...findServer(gateway, server), tool, failed: failed ? true : undefined };
  return feed({
    event: "mcp.request.logs",
    read: async (page) => await history.calls(owner, { ...filters, ...page }),
    toLine: (row) => ({ ok: true, call: callToJson(row) }),
  });
}

function feedOfLogs(gateway: Gateway, { server, level: name }: RecordsCommand): Feed<Numbered> {
  const { history } = gateway.standing;
  const level = logLevels.find((known) => known === name);
  if (name !== undefined && level === undefined)
    throw new GatewayError("REQUEST_INVALID", `there is no level ${name.slice(0, 40)}`, {
      hint: `Levels are ${logLevels.join(", ")}.`,
    });
  const filters = { ...findServer(gateway, server), level };
  return feed<ServerLogLine>({
    event: "mcp.server.logs",
    read: async (page) => await history.logs(owner, { ...filters, ...page }),
    toLine: (row) => ({ ok: true, log: logToJson(row) }),
    countLost: () => countLostLines(gateway.events, (line) => isAmong(line, filters)),
  });
}

interface LineFilters {
  readonly server?: string;
  readonly instance?: string;
  readonly level: LogLevel | undefined;
}

function isAmong(line: EventOf<"mcp.server.logs">, { server, instance, level }: LineFilters): boolean {
  if (server !== undefined && line.server !== server) return false;
  if (instance !== undefined && line.instance !== instance) return false;
  return level === undefined || logLevels.indexOf(levelOf(line)) >= logLevels.indexOf(level);
}

/** Rows of a feed go nowhere but into its own `toLine`. */
function feed<Row extends Numbered>(made: Feed<Row>): Feed<Numbered> {
  return made as unknown as Feed<Numbered>;
}

/** A removed server is not known any more, but may have left records: its name is then taken for a slug. */
function findServer(
  { fleet }: Gateway,
  name: string | undefined,
): { readonly server?: string; readonly instance?: string } {
  if (name === undefined) return {};
  const all = fleet.all();
  const named = all.find(({ server: { slug, key } }) => slug === name || key === name);
  if (named !== undefined) return { server: named.server.slug };
  return all.some(({ id }) => id === name) ? { instance: name } : { server: name };
}

/** Rows that are held at once, while a command does not read. 10 MB. */
const mostHeld = 20_000;
const pageRows = 1_000;

interface ReadBack {
  readonly limit: number;
  readonly after?: number | undefined;
}

/** The newest rows, the oldest of them first. */
async function readBack(
  { read }: Feed<Numbered>,
  { limit, after }: ReadBack,
): Promise<{ readonly rows: readonly Numbered[]; readonly isAll: boolean }> {
  const rows: Numbered[] = [];
  let before: number | undefined;
  while (rows.length < limit) {
    const page = await read({ limit: Math.min(pageRows, limit - rows.length), after, before });
    rows.push(...page.rows);
    if (page.next === null) return { rows: rows.toReversed(), isAll: true };
    before = page.next;
  }
  return { rows: rows.toReversed(), isAll: false };
}

interface Following {
  readonly gateway: Gateway;
  /** The last row that was sent. */
  readonly last: number | undefined;
  readonly send: (line: RecordLine) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Calls come in bursts: one look for all of them. */
const gatherMs = 200;

async function follow(rows: Feed<Numbered>, { gateway, send, signal, ...from }: Following): Promise<void> {
  let { last } = from;
  // What happened between the last look and now is found by the first one.
  let isMore = true;
  let wake = (): void => undefined;
  const stop = gateway.events.on([rows.event], () => {
    isMore = true;
    wake();
  });
  const wakeUp = (): void => wake();
  using lost = rows.countLost?.();
  signal.addEventListener("abort", wakeUp);
  try {
    while (!signal.aborted) {
      if (!isMore) await new Promise<void>((resolve) => (wake = resolve));
      await sleep(gatherMs, signal);
      isMore = false;
      lost?.begin();
      const found = await readBack(rows, { limit: mostHeld, after: last ?? -1 });
      const lostLines = lost?.end(found.rows) ?? 0;
      if (lost?.isUnsure === true) isMore = true;
      if (lostLines > 0) await send({ ok: true, lost: lostLines });
      else if (!found.isAll) await send({ ok: true, missed: true });
      for (const row of found.rows) await send(rows.toLine(row));
      last = found.rows.at(-1)?.id ?? last;
    }
  } finally {
    stop();
    signal.removeEventListener("abort", wakeUp);
  }
}
