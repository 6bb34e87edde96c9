import { toDurationText } from "../../kernel/text/number-text.ts";
import { clipText, columnsOf, wrapText } from "./fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import type { Column } from "./table.ts";

/** Time of day where it is today, otherwise with the date; of this machine's time zone. */
export function toClockText(time: string, now: Date): string {
  const at = new Date(time);
  const clock = at.toTimeString().slice(0, 8);
  if (at.toDateString() === now.toDateString()) return clock;
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}

export function toMsText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : toDurationText(ms);
}

/** How a call ended: `ok`, `tool failed`, or the code of what went wrong. */
export function outcomeText(outcome: string, code: string | null = null): string {
  if (outcome === "tool_error") return "tool failed";
  if (outcome === "error") return code === null ? "error" : `error ${code}`;
  return outcome === "failed" ? (code ?? "failed") : outcome;
}

/** A text of somebody else on one line. */
export function toCell(text: string, characters: number): string {
  return clipText(plainText(text).replace(/\s+/g, " ").trim(), characters);
}

/** Characters of the id of a client that distinguish it from the others of one server. */
const clientCharacters = 6;
const longestName = 80;

/**
 * An instance for people: its server, whose it is, and for which client. `--json` has the whole ids, which only
 * programs need.
 */
export function toInstanceText(instance: {
  readonly server: string;
  readonly instance: string;
  readonly owner?: string | null;
}): string {
  const { server, instance: id, owner = null } = instance;
  const at = id.lastIndexOf("@");
  const client = at === -1 ? "" : `@${id.slice(at + 1, at + 1 + clientCharacters)}`;
  const whose = owner === null || owner === "local" ? "" : ` (${owner})`;
  return toCell(`${server}${client}${whose}`, longestName);
}

/** A column of lines that come one by one, so that the width of their cells is unknown. */
export interface LineColumn extends Column {
  readonly width: number;
  /** Left out of a table where it is empty in every row, and of lines that come one by one. */
  readonly isOptional?: true;
}

const gap = 2;

/**
 * Puts a line's cells below those of the lines before it. A cell that is too wide takes its room from the next ones. On
 * a terminal, columns are left out by their rank, and the last one is wrapped.
 */
export function padCells(
  cells: readonly string[],
  columns: readonly LineColumn[],
  room = columnsOf(process.stdout),
): string {
  const kept = columnsIn(columns, room);
  let line = "";
  let end = 0;
  for (const [place, column] of kept.entries()) {
    if (place > 0) [line, end] = [`${line}${" ".repeat(gap)}`, end + gap];
    const cell = cells[columns.indexOf(column)] ?? "";
    end += column.width;
    line = column.align === "right" ? line + cell.padStart(end - line.length) : (line + cell).padEnd(end);
  }
  const last = kept.at(-1)?.width ?? 0;
  return wrapText(line.trimEnd(), room, " ".repeat(Math.min(end - last, Math.floor(room / 2)))).join("\n");
}

const leastText = 24;

function columnsIn(columns: readonly LineColumn[], room: number): readonly LineColumn[] {
  const taken = columns.reduce((sum, { width }) => sum + (width === 0 ? leastText : width) + gap, -gap);
  const ranks = columns.map(({ rank = 0 }) => rank);
  const last = Math.max(...ranks);
  return taken <= room || last === 0
    ? columns
    : columnsIn(
        columns.filter((_, at) => ranks[at] !== last),
        room,
      );
}
