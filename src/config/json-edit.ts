import { createScanner, findNodeAtLocation, parseTree, type Node } from "jsonc-parser";
import type { Path } from "./document.ts";

/** One change of a JSON text. */
export interface JsonEdit {
  readonly path: Path;
  /** Undefined removes the member. */
  readonly value: unknown;
}

/**
 * The text with members of its objects set or removed. Everything else keeps its bytes: comments, order, indentation,
 * line breaks, a byte-order mark, trailing commas. Objects on the way to a new member are made. A comment behind a
 * removed member on its own line goes with it, one above it stays. The text must be one that `parseDocument` accepts, or
 * empty; throws an Error for a path that leads through anything but objects.
 */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  return mark + edits.reduce(editOnce, text.slice(mark.length));
}

function editOnce(text: string, { path, value }: JsonEdit): string {
  if (text.trim() === "") return value === undefined ? text : `${toText(nest(path, value), styleOf(text), "")}\n`;
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root?.type !== "object") throw new Error("expected a JSON object");
  const found = findNodeAtLocation(root, [...path]);
  if (value === undefined) return found?.parent === undefined ? text : remove(text, found.parent);
  const style = styleOf(text);
  if (found !== undefined) return splice(text, found, toText(value, style, indentAt(text, found.offset)));
  const depth = path.findLastIndex((_, index) => findNodeAtLocation(root, path.slice(0, index)) !== undefined);
  const outer = findNodeAtLocation(root, path.slice(0, depth));
  if (outer?.type !== "object") throw new Error(`expected an object at ${path.slice(0, depth).join(".")}`);
  return insert(text, outer, { key: String(path[depth]), value: nest(path.slice(depth + 1), value), style });
}

function nest(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

interface Style {
  /** One level of indentation. */
  readonly unit: string;
  readonly lineBreak: string;
}

/** As the text has it: its first indented line is one level deep. */
function styleOf(text: string): Style {
  return {
    unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ",
    lineBreak: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

interface NewMember {
  readonly key: string;
  readonly value: unknown;
  readonly style: Style;
}

/** Puts a member at the end of an object. */
function insert(text: string, object: Node, { key, value, style }: NewMember): string {
  const member = (indent: string): string => `${JSON.stringify(key)}: ${toText(value, style, indent)}`;
  const last = object.children?.at(-1);
  const close = object.offset + object.length - 1;
  if (last === undefined) {
    const outer = indentAt(text, object.offset);
    const before = text.slice(0, close).trimEnd();
    const opened = `${style.lineBreak}${outer}${style.unit}${member(outer + style.unit)}${style.lineBreak}${outer}`;
    return before + opened + text.slice(close);
  }
  const end = last.offset + last.length;
  const { comma, lineEnd } = lookBehind(text, end);
  const isOnOneLine = !text.slice(object.offset, object.offset + object.length).includes("\n");
  const indent = indentAt(text, last.offset);
  const gap = isOnOneLine ? " " : `${style.lineBreak}${indent}`;
  const added = gap + (isOnOneLine ? `${JSON.stringify(key)}: ${toLine(value)}` : member(indent));
  if (comma !== undefined) return `${text.slice(0, lineEnd)}${added},${text.slice(lineEnd)}`;
  return `${text.slice(0, end)},${text.slice(end, lineEnd)}${added}${text.slice(lineEnd)}`;
}

/** Takes out a member with the comma that belongs to it, and its line where nothing else is on it. */
function remove(text: string, member: Node): string {
  const end = member.offset + member.length;
  const { comma, lineEnd } = lookBehind(text, end);
  const siblings = member.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(member) - 1];
  const lineStart = text.lastIndexOf("\n", member.offset - 1) + 1;
  const rest = /^[ \t]*\r?\n/.exec(text.slice(lineEnd));
  const isAlone = rest !== null && text.slice(lineStart, member.offset).trim() === "";
  const from = isAlone ? lineStart : member.offset;
  const until = isAlone ? lineEnd + rest[0].length : comma === undefined ? end : comma + 1;
  const after = comma === undefined || isAlone ? text.slice(until) : text.slice(until).replace(/^[ \t]+(?=\S)/, "");
  // The last member has no comma of its own: the one before it goes.
  const needless = comma === undefined && previous !== undefined ? commaAfter(text, previous) : undefined;
  if (needless === undefined) return text.slice(0, from) + after;
  return text.slice(0, needless) + text.slice(needless + 1, from).replace(/[ \t]+$/, isAlone ? "$&" : "") + after;
}

function commaAfter(text: string, member: Node): number | undefined {
  return lookBehind(text, member.offset + member.length).comma;
}

/** What jsonc-parser's scanner calls these; its enum is for the compiler only. */
const commaToken = 5;
const firstTrivia = 12;
const lastTrivia = 15;

/**
 * What follows a member: the comma that belongs to it, if it has one, and where its line ends, with the comments that
 * stand behind it there. Where something else follows on the line, that is right behind it.
 */
function lookBehind(text: string, end: number): { readonly comma: number | undefined; readonly lineEnd: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(end);
  let token: number = scanner.scan();
  while (token >= firstTrivia && token <= lastTrivia) token = scanner.scan();
  const comma = token === commaToken ? scanner.getTokenOffset() : undefined;
  const from = comma === undefined ? end : comma + 1;
  const comments = /^(?:[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/))+(?=[ \t]*(?:\r?\n|$))/.exec(text.slice(from));
  return { comma, lineEnd: from + (comments?.[0].length ?? 0) };
}

function splice(text: string, { offset, length }: Node, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length);
}

/** The white space at the start of the line that this position is on. */
function indentAt(text: string, position: number): string {
  const start = text.lastIndexOf("\n", position - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, position))?.[0] ?? "";
}

/** Lists of plain values stay on one line as long as people would leave them there. */
const longestLine = 100;

function toText(value: unknown, style: Style, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent + style.unit;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const members = Array.isArray(value)
    ? value.map((item) => toText(item, style, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${toText(item, style, inner)}`);
  if (members.length === 0) return `${open}${close}`;
  const line = Array.isArray(value) ? `[${members.join(", ")}]` : "\n";
  if (!line.includes("\n") && line.length + inner.length <= longestLine) return line;
  const { lineBreak } = style;
  return `${open}${lineBreak}${members.map((member) => inner + member).join(`,${lineBreak}`)}${lineBreak}${indent}${close}`;
}

function toLine(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toLine).join(", ")}]`;
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${toLine(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
