import { styleText } from "node:util";
import { clipText, columnsOf, widthOf, wrapText } from "./fitted-text.ts";

export type Style = Parameters<typeof styleText>[0];
/** Colours a text, or does not. */
export type Paint = (style: Style, text: string) => string;

/** Colours where there is a terminal that has them, and its user wants them: NO_COLOR, TERM=dumb. */
export function paintOn(stream: NodeJS.WriteStream): Paint {
  return (style, text) => (stream.isTTY && text !== "" ? styleText(style, text, { stream }) : text);
}

/** A column of a table: its heading, and what becomes of it where the terminal is narrow. */
export interface Column {
  readonly heading: string;
  /** Of numbers. */
  readonly align?: "right";
  /** Where there is no room, the column of the highest rank is left out first; one without a rank stays. */
  readonly rank?: number;
  /** Of texts, which can take less room than they would like: cut, on several lines, or on lines below the row. */
  readonly fit?: "cut" | "wrap" | "below";
  /** Columns of the terminal that a text needs at least. */
  readonly least?: number;
  readonly style?: (cell: string) => Style | undefined;
}

export interface TableOutput {
  /** Columns of the terminal. */
  readonly room?: number;
  readonly paint?: Paint;
}

/**
 * A table without borders, with two spaces between columns. The last column is as wide as its contents. On a terminal
 * no line is longer than that, and no word is cut: texts take less room, and columns are left out by their rank.
 * Without one everything is there, one line per row, after a heading.
 */
export function toTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { room = columnsOf(process.stdout), paint = paintOn(process.stdout) }: TableOutput = {},
): readonly string[] {
  const { beside, below } = layOut(columns, rows, room);
  const heading = toLines(
    { beside, below: [] },
    columns.map((column) => column.heading),
    { room, paint: plain },
  );
  return [
    ...heading.map((line) => paint("dim", line)),
    ...rows.flatMap((row) => toLines({ beside, below }, row, { room, paint })),
  ];
}

/** Prints a table of texts on stdout. Where there is no room, cells get several lines, then columns go from the end. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const columns = headings.map((heading, rank): Column => {
    return { heading, fit: "wrap", least: leastCell, ...(rank === 0 ? {} : { rank }) };
  });
  process.stdout.write(`${toTable(columns, rows).join("\n")}\n`);
}

const plain: Paint = (_style, text) => text;

interface Placed {
  readonly column: Column;
  readonly index: number;
  readonly width: number;
}

interface Layout {
  readonly beside: readonly Placed[];
  readonly below: readonly Placed[];
}

const gap = 2;
const leastText = 24;
const leastCell = 12;
const leastWord = 8;
const indentBelow = 4;

function layOut(columns: readonly Column[], rows: readonly (readonly string[])[], room: number): Layout {
  const all = columns.map((column, index): Placed => {
    const widths = rows.map((row) => widthOf(row[index] ?? ""));
    return { column, index, width: widths.reduce((most, width) => Math.max(most, width), widthOf(column.heading)) };
  });
  if (taken(all) <= room) return { beside: all, below: [] };
  const below = all.filter(({ column }) => column.fit === "below");
  let beside = all.filter((one) => !below.includes(one));
  while (taken(beside.map(atLeast)) > room) {
    const ranked = beside.filter(({ column }) => column.rank !== undefined);
    const last = ranked.toSorted((one, other) => (other.column.rank ?? 0) - (one.column.rank ?? 0))[0];
    if (last === undefined) break;
    beside = beside.filter((one) => one !== last);
  }
  if (taken(beside.map(atLeast)) > room) beside = beside.map(asText);
  return { beside: share(beside, room), below };
}

/** In a window that is narrower than what has to stay. */
function asText(placed: Placed): Placed {
  const { column } = placed;
  return column.align === "right" ? placed : { ...placed, column: { fit: "wrap", ...column, least: leastWord } };
}

/** The room that is left goes to texts, the shortest first. */
function share(placed: readonly Placed[], room: number): readonly Placed[] {
  let left = room - taken(placed.map(atLeast));
  const given = new Map<number, number>();
  for (const one of placed.toSorted((first, second) => first.width - second.width)) {
    const least = atLeast(one).width;
    const width = Math.min(one.width, least + Math.max(0, left));
    left -= width - least;
    given.set(one.index, width);
  }
  return placed.map((one) => ({ ...one, width: given.get(one.index) ?? one.width }));
}

function atLeast(placed: Placed): Placed {
  const { fit, least = leastText } = placed.column;
  return fit === undefined ? placed : { ...placed, width: Math.min(placed.width, least) };
}

function taken(placed: readonly Placed[]): number {
  return placed.reduce((sum, { width }) => sum + width + gap, -gap);
}

function toLines(
  { beside, below }: Layout,
  row: readonly string[],
  { room, paint }: Required<TableOutput>,
): readonly string[] {
  const cells = beside.map(({ column, index, width }) => {
    const cell = row[index] ?? "";
    return column.fit === "cut" ? [clipText(cell, width)] : wrapText(cell, width, /^ */.exec(cell)?.[0]);
  });
  const height = cells.reduce((most, { length }) => Math.max(most, length), 1);
  const lines = Array.from({ length: height }, (_, at) =>
    beside
      .map(({ column, width }, place) => {
        const text = cells[place]?.[at] ?? "";
        const space =
          place === beside.length - 1 && column.align === undefined ? "" : " ".repeat(width - widthOf(text));
        const style = column.style?.(text);
        const shown = style === undefined ? text : paint(style, text);
        return column.align === "right" ? space + shown : shown + space;
      })
      .join(" ".repeat(gap))
      .trimEnd(),
  );
  const indent = " ".repeat(indentBelow);
  const texts = below.map(({ index }) => row[index] ?? "").filter((text) => text !== "");
  return [...lines, ...texts.flatMap((text) => wrapText(`${indent}${text}`, room, indent))];
}
