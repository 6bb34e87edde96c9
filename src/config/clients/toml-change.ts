import { stringify } from "smol-toml";
import type { EntryChange } from "../entry-change.ts";
import { toTomlStatements, type TomlStatement } from "./toml-statements.ts";

/**
 * The text with one table, or one value in a table, set or removed. Every statement but those of that table stays as it
 * is written. The text must be TOML without a byte-order mark.
 *
 * Undefined where what is on the path is written in a way that is not edited: inside an inline table, by dotted keys,
 * or in a list of tables. The caller compares what the text means before and after, which catches everything else.
 */
export function changeToml(text: string, { path, value }: EntryChange): string | undefined {
  if (!path.every((part) => typeof part === "string")) return undefined;
  const placed = withTables(toTomlStatements(text));
  if (isTable(value)) return setTable({ text, placed, path }, value);
  const ours = placed.filter(({ table, statement }) => statement.kind !== "pair" && startsWith(table, path));
  if (value === undefined && ours.length > 0) return removeTable({ text, placed, path });
  return changeValue({ text, placed, path }, value);
}

interface Placed {
  readonly statement: TomlStatement;
  /** The table that the statement is in; of a header, the one that it begins. */
  readonly table: readonly string[];
}

interface Place {
  readonly text: string;
  readonly placed: readonly Placed[];
  readonly path: readonly string[];
}

type TomlValue = Readonly<Record<string, unknown>>;

function isTable(value: unknown): value is TomlValue {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withTables(statements: readonly TomlStatement[]): readonly Placed[] {
  let table: readonly string[] = [];
  return statements.map((statement) => {
    if (statement.kind === "table" || statement.kind === "tables") table = statement.keys;
    return { statement, table };
  });
}

function startsWith(keys: readonly string[], path: readonly string[]): boolean {
  return path.every((part, index) => keys[index] === part);
}

function isHeader({ statement: { kind } }: Placed): boolean {
  return kind === "table" || kind === "tables";
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The table as TOML writes it, with those in it, each under a header of its own. Ends with a line break. */
function written(path: readonly string[], value: TomlValue, eol: string): string {
  const nested = path.reduceRight<unknown>((within, key) => ({ [key]: within }), value);
  return `${stringify(nested as TomlValue).trim()}\n`.replaceAll("\n", eol);
}

/** In place of the table if there is one, otherwise at the end, behind an empty line. */
function setTable(place: Place, value: TomlValue): string {
  const { text, placed, path } = place;
  const eol = eolOf(text);
  const table = written(path, value, eol);
  const first = placed.find((one) => isHeader(one) && startsWith(one.table, path));
  if (first === undefined) {
    // What stands inside another table, as `toolyard = { url = "..." }`, gets a header of its own.
    const others = changeValue(place, undefined) ?? text;
    const closed = others === "" || others.endsWith("\n") ? others : others + eol;
    const apart = closed === "" || /(^|\n)\r?\n$/.test(closed) ? "" : eol;
    return closed + apart + table;
  }
  const without = withoutTable(place);
  // Everything before the first statement of ours stays where it is.
  const { start } = first.statement;
  const rest = without.slice(start);
  const apart = rest === "" || /^\r?\n/.test(rest) ? "" : eol;
  return without.slice(0, start) + table + apart + rest;
}

/** With the empty line that kept it apart from what is before it, where it was the last one. */
function removeTable(place: Place): string {
  const without = withoutTable(place);
  const first = place.placed.find((one) => isHeader(one) && startsWith(one.table, place.path))?.statement.start ?? 0;
  return without.length > first ? without : without.replace(/(\r?\n)\r?\n$/, "$1");
}

/**
 * Comments at the end of a table are about the next one, and stay, with empty lines after them; those between its
 * values go with it.
 */
function withoutTable({ text, placed, path }: Place): string {
  const kept: string[] = [];
  let isOurs = false;
  let isAfterComment = false;
  for (const [index, one] of placed.entries()) {
    const { kind, start, end } = one.statement;
    if (isHeader(one)) isOurs = startsWith(one.table, path);
    if (isOurs && kind !== "blank") isAfterComment = kind === "comment" && belongsToNext(placed, index);
    if (!isOurs || isAfterComment) kept.push(text.slice(start, end));
  }
  return kept.join("");
}

/** Whether nothing but comments and empty lines stands between this one and the next header, or the end. */
function belongsToNext(placed: readonly Placed[], index: number): boolean {
  const next = placed.slice(index).find(({ statement: { kind } }) => kind !== "blank" && kind !== "comment");
  return next === undefined || isHeader(next);
}

/** One value of a table that has a header of its own, such as `enabled = false`. */
function changeValue({ text, placed, path }: Place, value: unknown): string | undefined {
  const table = path.slice(0, -1);
  const key = path.at(-1) ?? "";
  const isSame = (keys: readonly string[]): boolean => keys.length === table.length && startsWith(keys, table);
  const pair = placed.find(
    ({ statement, table: within }) =>
      statement.kind === "pair" && isSame(within) && statement.keys.length === 1 && statement.keys[0] === key,
  )?.statement;
  if (pair !== undefined) {
    if (value === undefined) return text.slice(0, pair.start) + text.slice(pair.end);
    const { start, end } = pair.value ?? pair;
    return text.slice(0, start) + valueText(value) + text.slice(end);
  }
  if (value === undefined) return undefined;
  const header = placed.find((one) => one.statement.kind === "table" && isSame(one.table))?.statement;
  if (header === undefined) return undefined;
  const eol = eolOf(text);
  const head = text.slice(0, header.end);
  return `${head}${head.endsWith("\n") ? "" : eol}${stringify({ [key]: value })
    .trim()
    .replaceAll("\n", eol)}${eol}${text.slice(header.end)}`;
}

function valueText(value: unknown): string {
  return stringify({ v: value })
    .trim()
    .replace(/^v\s*=\s*/, "");
}
