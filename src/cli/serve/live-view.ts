import type { Gateway } from "../../app/gateway.ts";
import type { Activity, PendingCall } from "../../operations/services.ts";
import { paintOn, toTable, type Paint } from "../terminal/table.ts";
import type { TerminalScreen, ScreenSize } from "../terminal/terminal-screen.ts";
import { countText, toDurationText } from "../../kernel/text/number-text.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import type { ServerStatus } from "../../records/gateway-status.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { outcomeText, toCell, toInstanceText, toMsText } from "../terminal/record-cells.ts";
import { number, problemsFirst, statusText, styleOfWord, urgency } from "../terminal/status-text.ts";
import { widthOf, wrapText } from "../terminal/fitted-text.ts";

/** A gateway as the view looks at it: the one of this process, or one that is asked. */
export interface ShownGateway {
  glance(): Promise<Activity>;
  /** Calls back for each call that ends. Returns how that is ended. */
  onCall(listener: (call: EndedCall) => void): () => void;
}

/** The gateway of this process. */
export function ownGateway({ glance, events }: Pick<Gateway, "glance" | "events">): ShownGateway {
  return { glance, onCall: (listener) => events.on(["mcp.request.logs"], listener) };
}

export interface LiveViewOptions {
  readonly gateway: ShownGateway;
  readonly url: string;
  readonly foot: string;
  readonly screen: TerminalScreen;
  /** The terminal, which says when it was resized, and whether it has colours. */
  readonly terminal: NodeJS.WriteStream;
  readonly stopping: AbortSignal;
}

/** At most four times a second: more cannot be read. */
const drawMs = 250;
/** The rest of the view is looked at less often, because that visits every server. */
const lookMs = 1_000;
/** As many as the largest screen shows. */
const mostEnded = 50;

/** Shows what the gateway does, until it is to stop. Resolves then, with the view taken away. */
export async function showLive(options: LiveViewOptions): Promise<void> {
  const { gateway, url, foot, screen, terminal, stopping } = options;
  const paint = paintOn(terminal);
  const ended: EndedCall[] = [];
  let glance = await gateway.glance();
  let glancedMs = Date.now();
  let drawTimer: NodeJS.Timeout | undefined;
  let drawnMs = 0;

  const draw = (): void => {
    drawTimer = undefined;
    drawnMs = performance.now();
    const nowMs = Date.now();
    screen.show(toLiveLines({ glance, ended, url, foot, glancedMs, nowMs }, screen.size(), paint));
  };
  const drawSoon = (): void => {
    drawTimer ??= setTimeout(draw, Math.max(0, drawnMs + drawMs - performance.now()));
  };
  const unsubscribe = gateway.onCall((call) => {
    ended.unshift(call);
    if (ended.length > mostEnded) ended.length = mostEnded;
    drawSoon();
  });
  let lookTimer = setTimeout(function look() {
    gateway.glance().then(
      (next) => {
        [glance, glancedMs] = [next, Date.now()];
        if (stopping.aborted) return;
        drawSoon();
        lookTimer = setTimeout(look, lookMs);
      },
      // Only a gateway that has ended cannot be looked at.
      () => undefined,
    );
  }, lookMs);
  terminal.on("resize", drawSoon);
  if (!stopping.aborted) {
    draw();
    await new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve(), { once: true }));
  }
  terminal.off("resize", drawSoon);
  clearTimeout(lookTimer);
  clearTimeout(drawTimer);
  unsubscribe();
  screen.show([]);
}

/** A call that has ended. */
type EndedCall = Pick<EventOf<"mcp.request.logs">, "atMs" | "path" | "outcome" | "durationMs" | "client">;

interface LiveView {
  readonly glance: Activity;
  /** Newest first. */
  readonly ended: readonly EndedCall[];
  readonly url: string;
  /** How the view is left, and where more is to be seen. */
  readonly foot: string;
  /** When the gateway was looked at, and the time now: wall clock. */
  readonly glancedMs: number;
  readonly nowMs: number;
}

/** As many calls as somebody can follow. */
const mostCalls = 8;
const longestPath = 128;
const longestOutcome = 24;

/** The live view, of as many lines as the screen has. */
function toLiveLines(view: LiveView, size: ScreenSize, paint: Paint): readonly string[] {
  const { status } = view.glance;
  const columns = size.columns - 1;
  const wrapped = (lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) => wrapText(line, columns, "  "));
  const head = wrapped([headLine(view)]);
  const above = wrapped(troubles(status));
  const foot = wrapped([savedLine(view.glance), ...addressLines(view)]);
  const rows = size.rows - 1 - head.length - above.length - foot.length;
  const calls = callLines(view, Math.max(0, Math.min(mostCalls, Math.floor(rows / 3))), { columns, paint });
  const servers = serverLines(view, rows - calls.length, { columns, paint });
  return [...head.map((line) => paint("bold", line)), ...above, ...servers, ...calls, ...foot];
}

function headLine({ glance: { status, pending } }: LiveView): string {
  const { counts, uptimeMs, version } = status;
  const calls = `${counted(counts.calls, "call")} in 24 h${counts.errors === 0 ? "" : `, ${countText(counts.errors)} failed`}`;
  const now = pending.length === 0 ? "" : `, ${countText(pending.length)} now`;
  return `Toolyard ${version}   up ${toDurationText(uptimeMs)}   ${counted(counts.servers, "server")}, ${counted(counts.tools, "tool")}   ${calls}${now}`;
}

function troubles({ restart, unready, store }: Activity["status"]): readonly string[] {
  return [
    ...(restart === null ? [] : [`  restart it: ${plainText(restart)}`]),
    ...(unready === null ? [] : [`  not ready: ${plainText(unready)}`]),
    ...store.problems.flatMap(({ message }) => (unready?.includes(message) === true ? [] : [`  records: ${message}`])),
    ...(store.droppedRows === 0 ? [] : [`  ${counted(store.droppedRows, "record")} lost since the start`]),
  ];
}

function savedLine({ saved, here, flat }: Activity): string {
  const about = here.isExact && flat.isExact ? "" : "about ";
  const lists = `(a model reads ${about}${countText(here.tokens)} here, ${countText(flat.tokens)} in a flat list)`;
  if (saved.sessions === 0) {
    const why = saved.unknown === 0 ? "nothing yet" : "unknown, as these clients load definitions only when needed";
    return `Saved today: ${why} ${lists}`;
  }
  const tokens = `${saved.isExact ? "" : "about "}${countText(saved.tokens)} tokens`;
  return `Saved today: ${tokens} in ${counted(saved.sessions, "conversation")} ${lists}`;
}

function addressLines({ url, foot }: LiveView): readonly string[] {
  return [`${url}/mcp   all endpoints: ${url}/   dashboard: \`toolyard open\``, foot];
}

interface Area {
  readonly columns: number;
  readonly paint: Paint;
}

/** Servers that need attention come first, then the most used; the rest is counted. */
function serverLines({ glance: { status }, nowMs }: LiveView, rows: number, area: Area): readonly string[] {
  const servers = status.servers.toSorted((one, other) => urgency(other) - urgency(one) || other.calls - one.calls);
  const none = wrapText("  no servers yet: `toolyard import` takes over those of AI clients", area.columns, "  ");
  if (servers.length === 0) return none.length <= rows ? none : [];
  if (rows < 2) return [];
  return mostThatFit(Math.min(servers.length, rows - 1), rows, (count) => {
    const shown = new Set(servers.slice(0, count));
    // Otherwise in the order of the configuration, so that lines do not jump about.
    const visible = problemsFirst(status.servers.filter((server) => shown.has(server)));
    const hidden = servers.slice(count);
    const folded = hidden.length === 0 ? [] : wrapText(foldedLine(hidden), area.columns, "  ");
    return [...serverTable(visible, nowMs, area), ...folded];
  });
}

/** Lines of as many things as there are rows for: one of them may take several. */
function mostThatFit(most: number, rows: number, linesOf: (count: number) => readonly string[]): readonly string[] {
  for (let count = most; count >= 0; count -= 1) {
    const lines = linesOf(count);
    if (lines.length <= rows) return lines;
  }
  return [];
}

/** What to do goes beside its server where that needs no second line, and otherwise below it. */
function serverTable(servers: readonly ServerStatus[], nowMs: number, { columns, paint }: Area): readonly string[] {
  const rows = servers.map((server) => [
    `  ${toInstanceText(server)}`,
    server.dormant ? server.word : statusText(server, nowMs),
    number(server.tools),
    number(server.calls),
    number(server.errors),
    server.p95Ms === null ? "-" : toMsText(server.p95Ms),
    server.next?.command ?? server.next?.text ?? "",
  ]);
  const widest = (at: number): number => rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "") + gap), 0);
  const isBeside = Math.min(widest(0), leastName + gap) + widest(1) + widest(6) - gap <= columns;
  return toTable(
    [
      { heading: "  SERVER", fit: "wrap", least: leastName },
      { heading: "STATUS", style: styleOfWord },
      { heading: "TOOLS", align: "right", rank: 2 },
      { heading: "CALLS", align: "right", rank: 1 },
      { heading: "FAILED", align: "right", rank: 4 },
      { heading: "P95", align: "right", rank: 3 },
      isBeside ? { heading: "NEXT" } : { heading: "NEXT", fit: "below" },
    ],
    rows,
    { room: columns, paint },
  );
}

/** Longer names are broken where another column would have to be left out. */
const leastName = 42;
/** Spaces between two columns of a table. */
const gap = 2;

function foldedLine(servers: readonly ServerStatus[]): string {
  const words = new Map<string, number>();
  for (const { word } of servers) words.set(word, (words.get(word) ?? 0) + 1);
  const counts = [...words].map(([word, count]) => `${countText(count)} ${word}`).join(", ");
  return `  and ${countText(servers.length)} more: ${counts} (\`toolyard status\` lists all)`;
}

/** Those that go on, the longest first, and below them those that have ended. */
function callLines(
  { glance, ended, nowMs, glancedMs }: LiveView,
  rows: number,
  { paint, columns }: Area,
): readonly string[] {
  const running = glance.pending
    .toSorted((one, other) => other.runningMs - one.runningMs)
    .slice(0, Math.max(0, rows - 1));
  const last = ended.slice(0, Math.max(0, rows - 1 - running.length));
  if (running.length + last.length === 0) return [];
  const cells = [
    ...running.map((call) => {
      const startedMs = glancedMs - call.runningMs;
      const took = toMsText(nowMs - startedMs);
      return [">", clock(startedMs), toCell(pathOf(call), longestPath), "goes on", took, ""];
    }),
    ...last.map(({ atMs, path, outcome, durationMs, client }) => [
      outcome === "ok" ? " " : "!",
      clock(atMs),
      toCell(path, longestPath),
      toCell(outcomeText(outcome), longestOutcome),
      toMsText(durationMs),
      client === undefined ? "" : toCell(client, longestOutcome),
    ]),
  ];
  const callColumns = [
    { heading: "" },
    { heading: "", rank: 1 },
    { heading: "", fit: "wrap", least: 40 },
    { heading: "" },
    { heading: "" },
    { heading: "", rank: 2 },
  ] as const;
  return mostThatFit(cells.length, rows, (count) => {
    const [, ...lines] = toTable(callColumns, cells.slice(0, count), { room: columns, paint });
    return [paint("dim", "  CALLS"), ...lines.map((line) => (line.startsWith("!") ? paint("red", line) : line))];
  });
}

function pathOf({ server, method, name }: PendingCall): string {
  return method === "tools/call" ? `${server}:${name ?? ""}` : `${server} ${method} ${name ?? ""}`;
}

function clock(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8);
}

function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}
