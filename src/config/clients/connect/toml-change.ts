import { stringify } from "smol-toml";
import type { EntryChange } from "../../entry/entry-change.ts";
import { membersOfList, toTomlStatements, type TomlStatement } from "./toml-statements.ts";

/**
 * The text with one table, one value in a table, or one member of a list, set or removed. Every statement but those of
 * that table stays as it is written. The text must be TOML without a byte-order mark.
 *
 * Undefined where the path is written in a way that is not edited: inside an inline table, a new table beside one of
 * dotted keys, or in a list of tables. The caller compares what the text means before and after, which catches
 * everything else.
 */
export function changeToml(text: string, { path, value }: EntryChange): string | undefined {
  const placed = withTables(toTomlStatements(text));
  const last = path.at(-1);
  if (typeof last === "number") return changeMember({ text, placed, path: path.slice(0, -1) }, last, value);
  if (!isKeys(path)) return undefined;
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

interface Place<Path = readonly string[]> {
  readonly text: string;
  readonly placed: readonly Placed[];
  readonly path: Path;
}

function isKeys(path: EntryChange["path"]): path is readonly string[] {
  return path.every((part) => typeof part === "string");
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
    // An entry inside another table, as `toolyard = { url = "..." }`, gets a header of its own.
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

/** With the empty line that kept it apart from the text before it, where it was the last one. */
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

/** Whether only comments and empty lines are between this one and the next header, or the end. */
function belongsToNext(placed: readonly Placed[], index: number): boolean {
  const next = placed.slice(index).find(({ statement: { kind } }) => kind !== "blank" && kind !== "comment");
  return next === undefined || isHeader(next);
}

/** The statement that gives the value of this path, in whichever table it is written. */
function findPair({ placed, path }: Place): TomlStatement | undefined {
  return placed.find(({ statement: { kind, keys }, table }) => {
    const whole = [...table, ...keys];
    return kind === "pair" && whole.length === path.length && startsWith(whole, path);
  })?.statement;
}

/** One value, such as `enabled = false`. A new one needs a table with a header of its own, or another dotted key. */
function changeValue({ text, placed, path }: Place, value: unknown): string | undefined {
  const table = path.slice(0, -1);
  const key = path.at(-1) ?? "";
  const isSame = (keys: readonly string[]): boolean => keys.length === table.length && startsWith(keys, table);
  const pair = findPair({ text, placed, path });
  if (pair !== undefined) {
    if (value === undefined) return text.slice(0, pair.start) + text.slice(pair.end);
    const { start, end } = pair.value ?? pair;
    return text.slice(0, start) + valueText(value) + text.slice(end);
  }
  if (value === undefined) return withoutDotted({ text, placed, path });
  const header = placed.find((one) => one.statement.kind === "table" && isSame(one.table))?.statement;
  const beside = placed.find(({ statement: { kind, keys }, table: within }) => {
    const whole = [...within, ...keys];
    return kind === "pair" && keys.length > 1 && isSame(whole.slice(0, -1));
  });
  const before = header ?? beside?.statement;
  if (before === undefined) return undefined;
  const eol = eolOf(text);
  const head = text.slice(0, before.end);
  const within = header === undefined ? path.slice(beside?.table.length) : [key];
  const line = `${within.map(keyText).join(".")} = ${valueText(value)}`;
  return `${head}${head.endsWith("\n") ? "" : eol}${line.replaceAll("\n", eol)}${eol}${text.slice(before.end)}`;
}

/** Without the dotted keys of which a table is made. Undefined where there are none. */
function withoutDotted({ text, placed, path }: Place): string | undefined {
  const isOurs = ({ statement: { kind, keys }, table }: Placed): boolean =>
    kind === "pair" && startsWith([...table, ...keys], path);
  if (!placed.some(isOurs)) return undefined;
  return placed.map((one) => (isOurs(one) ? "" : text.slice(one.statement.start, one.statement.end))).join("");
}

/** A key as TOML writes it: bare, or quoted. */
function keyText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** One more member at the end of a list, or one less. Comments between the others stay. */
function changeMember(
  { text, placed, path }: Place<EntryChange["path"]>,
  index: number,
  value: unknown,
): string | undefined {
  const list = isKeys(path) ? findPair({ text, placed, path })?.value : undefined;
  if (list === undefined || text[list.start] !== "[") return undefined;
  const members = membersOfList(text, list.start);
  if (value !== undefined && index === members.length) return addMember(text, list, members, valueText(value));
  return value === undefined && index < members.length ? removeMember(text, members, index) : undefined;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
}

function addMember(text: string, list: Stretch, members: readonly Stretch[], added: string): string {
  const put = (at: number, what: string): string => text.slice(0, at) + what + text.slice(at);
  const last = members.at(-1);
  if (last === undefined) return put(list.start + 1, added);
  const indent = /(?:^|\n)([ \t]+)$/.exec(text.slice(0, last.start))?.[1];
  if (indent === undefined) return put(last.end, `, ${added}`);
  // On a line of its own as the last one is, behind that one's comma and comment.
  const [rest = "", comma] = /^([ \t]*,)?[^\S\r\n]*(?:#[^\r\n]*)?/.exec(text.slice(last.end)) ?? [];
  const line = `${eolOf(text)}${indent}${added}${comma === undefined ? "" : ","}`;
  const head = text.slice(0, last.end) + (comma === undefined ? "," : "") + rest;
  return head + line + text.slice(last.end + rest.length);
}

function removeMember(text: string, members: readonly Stretch[], index: number): string {
  const member = members[index] as Stretch;
  const [before, next] = [members[index - 1], members[index + 1]];
  const [rest = "", comma] = /^([ \t]*,)?[^\S\r\n]*(?:#[^\r\n]*)?/.exec(text.slice(member.end)) ?? [];
  const lead = /\r?\n[ \t]*$/.exec(text.slice(0, member.start))?.[0];
  // Alone on its line, which is removed together with its comments.
  if (lead !== undefined && /^\r?\n/.test(text.slice(member.end + rest.length))) {
    const head = text.slice(0, member.start - lead.length);
    const isWithoutComma = comma === undefined && before !== undefined;
    const kept = isWithoutComma ? head.slice(0, before.end) + head.slice(before.end).replace(/^[ \t]*,/, "") : head;
    return kept + text.slice(member.end + rest.length);
  }
  if (next !== undefined) return text.slice(0, member.start) + text.slice(next.start);
  const start = before?.end ?? member.start;
  return text.slice(0, start) + text.slice(member.end);
}

function valueText(value: unknown): string {
  return stringify({ v: value })
    .trim()
    .replace(/^v\s*=\s*/, "");
}
