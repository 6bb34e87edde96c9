import { switchedOff } from "../../config/entry/servers.ts";
import { countText, toDurationText } from "../../kernel/text/number-text.ts";
import type { GatewayStatus, ServerStatus } from "../../records/gateway-status.ts";
import { columnsOf, wrapText } from "./fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell, toInstanceText, toMsText } from "./record-cells.ts";
import { toTable, type Column, type Style } from "./table.ts";

/** A gateway on some lines: its address and version, its problems, and a row for each instance. */
export function toStatusLines(status: GatewayStatus, nowMs: number): readonly string[] {
  const { counts, uptimeMs, configProblem, restart, store, unready } = status;
  const calls = `${counted(counts.calls, "call")} in 24 h${counts.errors === 0 ? "" : `, ${countText(counts.errors)} failed`}`;
  const facts = [
    `up ${toDurationText(uptimeMs)}, ${counted(counts.servers, "server")}, ${counted(counts.tools, "tool")}, ${calls}`,
    ...(configProblem === null ? [] : [`the changed configuration is refused, the old one stays: ${configProblem}`]),
    ...(restart === null ? [] : [`restart it: ${restart}`]),
    ...(unready === null ? [] : [`not ready: ${unready}`]),
    ...store.problems.flatMap(({ message, hint }) => {
      const text = `${message}. ${hint}`;
      return text === unready ? [] : [`records: ${text}`];
    }),
    ...(store.droppedRows === 0 ? [] : [`${counted(store.droppedRows, "record")} lost since the start`]),
  ];
  return [
    ...facts.flatMap((fact) => wrapText(`  ${plainText(fact)}`, columnsOf(process.stdout), "    ")),
    ...(status.servers.length === 0 ? [] : toServerTable(status.servers, nowMs, { indent: "  ", isLong: true })),
  ];
}

type StatusColumn = Column & { readonly cell: (server: ServerStatus, nowMs: number) => string };

/** What only a gateway that has run for a while can say. */
const measured: readonly StatusColumn[] = [
  { heading: "CALLS", align: "right", rank: 3, cell: ({ calls }) => number(calls) },
  { heading: "P95", align: "right", rank: 4, cell: ({ p95Ms }) => (p95Ms === null ? "-" : toMsText(p95Ms)) },
  { heading: "MEMORY", align: "right", rank: 5, cell: ({ memoryBytes }) => megabytes(memoryBytes) },
  { heading: "PROCESS", align: "right", rank: 6, cell: ({ pid }) => (pid === null ? "-" : String(pid)) },
];

function columnsWith({ indent, isLong }: TableStyle): readonly StatusColumn[] {
  return [
    {
      heading: `${indent}SERVER`,
      fit: "wrap",
      least: leastName,
      cell: (server) => `${indent}${toInstanceText(server)}`,
    },
    { heading: "STATUS", style: (text) => styleOfWord(text), cell: statusText },
    { heading: "TOOLS", align: "right", rank: 1, cell: ({ tools }) => number(tools) },
    { heading: "TOKENS", align: "right", rank: 2, cell: tokensText },
    ...(isLong ? measured : []),
    { heading: "NEXT", fit: "below", cell: nextText },
  ];
}

/** Longer names are broken where another column would have to be left out. */
const leastName = 42;

interface TableStyle {
  readonly indent: string;
  readonly isLong: boolean;
}

/** Instances as a table, those that somebody has to do something about first; and what was mended of them. */
export function toServerTable(
  servers: readonly ServerStatus[],
  nowMs: number,
  style: TableStyle = { indent: "", isLong: false },
): readonly string[] {
  const shown = columnsWith(style);
  const rows = problemsFirst(servers).map((server) => shown.map(({ cell }) => cell(server, nowMs)));
  const odd = toOddityLines(servers).flatMap((line) =>
    wrapText(style.indent + line, columnsOf(process.stdout), "    "),
  );
  return [...toTable(shown, rows), ...odd];
}

/** Those with something to do about them, then the others as they were, then those that were switched off. */
export function problemsFirst(servers: readonly ServerStatus[]): readonly ServerStatus[] {
  return servers.toSorted((one, other) => urgency(other) - urgency(one));
}

/** 1 where somebody has to do something, -1 for one that was switched off. */
export function urgency({ status, reason, next }: ServerStatus): number {
  if (status === "disabled" && reason === switchedOff) return -1;
  return next === null || next.step === "start" ? 0 : 1;
}

/** The colour of a status. */
export function styleOfWord(word: string): Style {
  const [first = ""] = word.split(" (", 1);
  return wordStyles[first] ?? "yellow";
}

const wordStyles: Readonly<Record<string, Style>> = {
  online: "green",
  asleep: "dim",
  off: "dim",
  stopped: "dim",
  new: "cyan",
  starting: "cyan",
  "reading tools": "cyan",
  "cannot start": "red",
  "given up": "red",
  "does not answer": "red",
};

function tokensText({ tokens, tokensExact }: ServerStatus): string {
  return tokens === 0 ? "-" : `${tokensExact ? "" : "~"}${countText(tokens)}`;
}

/** Memory, where it is known. */
export function megabytes(bytes: number | null): string {
  return bytes === null ? "-" : `${Math.round(bytes / 1024 ** 2)} MB`;
}

/** A count, where none is nothing to look at. */
export function number(value: number): string {
  return value === 0 ? "-" : countText(value);
}

/** What servers do that was mended, for their authors. */
function toOddityLines(servers: readonly ServerStatus[]): readonly string[] {
  return servers.flatMap((server) =>
    server.oddities.map((sentence) => `${toInstanceText(server)}: ${plainText(sentence)}`),
  );
}

/** `online`, `asleep (a call starts it)`, `restarting (in 4 s)`. */
export function statusText({ word, dormant, retryAt }: ServerStatus, nowMs: number): string {
  if (dormant) return `${word} (a call starts it)`;
  if (retryAt === null) return word;
  return `${word} (in ${Math.max(0, Math.round((Date.parse(retryAt) - nowMs) / 1_000))} s)`;
}

/** What to type, where there is something; otherwise why it is not up. */
export function nextText({ next, reason, status, replicas }: ServerStatus): string {
  const isOff = status === "disabled" && reason === switchedOff;
  const what = next?.command ?? (status === "disabled" ? "" : (next?.text ?? ""));
  const isWhole = status === "online" && replicas?.up === replicas?.of;
  const why = isWhole || isOff ? "" : toCell(reason, 120);
  return [what, why].filter((text) => text !== "").join("  # ");
}

function counted(number: number, noun: string): string {
  return `${countText(number)} ${noun}${number === 1 ? "" : "s"}`;
}
