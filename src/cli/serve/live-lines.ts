import { styleText } from "node:util";
import type { StatusScreen, PendingAt } from "../../app/records/status-screen.ts";
import { countText, toDurationText } from "../../kernel/text/number-text.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import type { ServerStatus } from "../../records/gateway-status.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell, toInstanceText, toMsText } from "../terminal/record-cells.ts";
import { statusText } from "../terminal/status-text.ts";
import { toTable } from "../terminal/table.ts";
import { fitLine, type ScreenSize } from "../terminal/terminal-screen.ts";

/** A call that has ended. */
export type EndedCall = Pick<EventOf<"mcp.request.logs">, "atMs" | "path" | "outcome" | "durationMs" | "client">;

export interface LiveView {
  readonly glance: StatusScreen;
  /** Newest first. */
  readonly ended: readonly EndedCall[];
  readonly url: string;
  readonly logFile: string | undefined;
  /** Wall clock, and monotonic. */
  readonly nowMs: number;
  readonly monotonicMs: number;
}

type Style = Parameters<typeof styleText>[0];
/** Colours a text, or does not. */
export type Paint = (style: Style, text: string) => string;

/** As many calls as somebody can follow. */
const mostCalls = 8;
const longestPath = 48;
const longestOutcome = 24;

/** The live view, of as many lines as the screen has. A line that is too long is cut by the screen. */
export function toLiveLines(view: LiveView, size: ScreenSize, paint: Paint): readonly string[] {
  const { status } = view.glance;
  const head = [headLine(view), ...troubles(status)];
  const foot = [savedLine(view.glance), ...addressLines(view)];
  const room = size.rows - 1 - head.length - foot.length;
  const calls = callLines(view, Math.max(0, Math.min(mostCalls, Math.floor(room / 3))), {
    columns: size.columns,
    paint,
  });
  const servers = serverLines(view, { rows: room - calls.length, columns: size.columns, paint });
  return [paint("bold", fitLine(head[0] ?? "", size.columns - 1)), ...head.slice(1), ...servers, ...calls, ...foot];
}

function headLine({ glance: { status, pending } }: LiveView): string {
  const { counts, uptimeMs, version } = status;
  const calls = `${counted(counts.calls, "call")} in 24 h${counts.errors === 0 ? "" : `, ${countText(counts.errors)} failed`}`;
  const now = pending.length === 0 ? "" : `, ${countText(pending.length)} now`;
  return `Toolyard ${version}   up ${toDurationText(uptimeMs)}   ${counted(counts.servers, "server")}, ${counted(counts.tools, "tool")}   ${calls}${now}`;
}

function troubles({ restart, unready, store }: StatusScreen["status"]): readonly string[] {
  return [
    ...(restart === null ? [] : [`  restart it: ${plainText(restart)}`]),
    ...(unready === null ? [] : [`  not ready: ${plainText(unready)}`]),
    ...(store.droppedRows === 0 ? [] : [`  ${counted(store.droppedRows, "record")} lost since the start`]),
  ];
}

function savedLine({ saved, here, flat }: StatusScreen): string {
  const about = here.isExact && flat.isExact ? "" : "about ";
  const lists = `(a model reads ${about}${countText(here.tokens)} here, ${countText(flat.tokens)} in a flat list)`;
  if (saved.sessions === 0) {
    const why = saved.unknown === 0 ? "nothing yet" : "unknown, as these clients load definitions only when needed";
    return `Saved today: ${why} ${lists}`;
  }
  const tokens = `${saved.isExact ? "" : "about "}${countText(saved.tokens)} tokens`;
  return `Saved today: ${tokens} in ${counted(saved.sessions, "conversation")} ${lists}`;
}

function addressLines({ url, logFile }: LiveView): readonly string[] {
  return [
    `${url}/mcp   all endpoints: ${url}/   dashboard: \`toolyard open\``,
    `Ctrl-C stops it${logFile === undefined ? "" : `   log: ${logFile}`}`,
  ];
}

interface Area {
  readonly columns: number;
  readonly paint: Paint;
}

/** Servers that need attention come first, then the most used; the rest is counted. */
function serverLines(
  { glance: { status }, nowMs }: LiveView,
  { rows, columns, paint }: Area & { rows: number },
): string[] {
  const servers = status.servers.toSorted((one, other) => weight(other) - weight(one) || other.calls - one.calls);
  if (servers.length === 0)
    return rows < 1 ? [] : ["  no servers yet: `toolyard import` takes over those of AI clients"];
  if (rows < 2) return [];
  const fits = servers.length + 1 <= rows ? servers.length : Math.max(0, rows - 2);
  const shown = new Set(servers.slice(0, fits));
  // In the order of the configuration, so that lines do not jump about.
  const visible = status.servers.filter((server) => shown.has(server));
  const table = serverTable(visible, columns, nowMs).map((line) => fitLine(line, columns - 1));
  const painted = table.map((line, at) => {
    const server = visible[at - 1];
    if (server === undefined) return paint("dim", line);
    return weight(server) > 0 ? paint("yellow", line) : line;
  });
  const hidden = servers.slice(fits);
  return hidden.length === 0 ? painted : [...painted, foldedLine(hidden)];
}

function weight({ next, status }: ServerStatus): number {
  if (status === "disabled") return -1;
  return next === null ? 0 : 1;
}

function serverTable(servers: readonly ServerStatus[], columns: number, nowMs: number): readonly string[] {
  const all = [
    { heading: "  SERVER", from: 0, cell: (server: ServerStatus) => `  ${toInstanceText(server)}` },
    { heading: "STATUS", from: 0, cell: (server: ServerStatus) => statusText(server, nowMs) },
    { heading: "TOOLS", from: 50, align: "right", cell: ({ tools }: ServerStatus) => number(tools) },
    { heading: "CALLS", from: 60, align: "right", cell: ({ calls }: ServerStatus) => number(calls) },
    { heading: "FAILED", from: 80, align: "right", cell: ({ errors }: ServerStatus) => number(errors) },
    {
      heading: "P95",
      from: 70,
      align: "right",
      cell: ({ p95Ms }: ServerStatus) => (p95Ms === null ? "-" : toMsText(p95Ms)),
    },
    { heading: "NEXT", from: 60, cell: ({ next }: ServerStatus) => next?.command ?? next?.text ?? "" },
  ] as const;
  const kept = all.filter(({ from }) => columns >= from);
  return toTable(
    kept,
    servers.map((server) => kept.map(({ cell }) => cell(server))),
  );
}

function number(value: number): string {
  return value === 0 ? "-" : countText(value);
}

function foldedLine(servers: readonly ServerStatus[]): string {
  const words = new Map<string, number>();
  for (const { word } of servers) words.set(word, (words.get(word) ?? 0) + 1);
  const counts = [...words].map(([word, count]) => `${countText(count)} ${word}`).join(", ");
  return `  and ${countText(servers.length)} more: ${counts} (\`toolyard status\` lists all)`;
}

/** Those that go on, the longest first, and below them those that have ended. */
function callLines({ glance, ended, nowMs, monotonicMs }: LiveView, rows: number, { paint, columns }: Area): string[] {
  const running = glance.pending.toSorted((one, other) => one.sinceMs - other.sinceMs).slice(0, Math.max(0, rows - 1));
  const last = ended.slice(0, Math.max(0, rows - 1 - running.length));
  if (running.length + last.length === 0) return [];
  const cells = [
    ...running.map((call) => {
      const sinceMs = monotonicMs - call.sinceMs;
      return [">", clock(nowMs - sinceMs), toCell(pathOf(call), longestPath), "goes on", toMsText(sinceMs)];
    }),
    ...last.map(({ atMs, path, outcome, durationMs, client }) => [
      outcome === "ok" ? " " : "!",
      clock(atMs),
      toCell(path, longestPath),
      toCell(outcome, longestOutcome),
      `${toMsText(durationMs)}${client === undefined ? "" : `  ${toCell(client, longestOutcome)}`}`,
    ]),
  ];
  const [, ...lines] = toTable(
    [{ heading: "" }, { heading: "" }, { heading: "" }, { heading: "" }, { heading: "" }],
    cells,
  );
  return [
    paint("dim", "  CALLS"),
    ...lines.map((line) => {
      const fitted = fitLine(line, columns - 1);
      return fitted.startsWith("!") ? paint("red", fitted) : fitted;
    }),
  ];
}

function pathOf({ server, method, name = "" }: PendingAt): string {
  return method === "tools/call" ? `${server}:${name}` : `${server} ${method} ${name}`;
}

function clock(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8);
}

function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}
