import type { EntryChange } from "../entry/entry-change.ts";
import { createScanner, findNodeAtLocation, parseTree, type Node } from "jsonc-parser";

/**
 * The text of a configuration with members set or removed, as `changeJson` does it; also one with a byte-order mark, or
 * an empty one. Throws an Error for a path that leads through anything but objects.
 */
export function editJson(text: string, edits: readonly EntryChange[]): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  return mark + edits.reduce(editOnce, text.slice(mark.length));
}

function editOnce(text: string, edit: EntryChange): string {
  const isEmpty = text.trim() === "";
  if (isEmpty && edit.value === undefined) return text;
  const changed = changeJson(isEmpty ? "{}\n" : text, edit);
  if (changed === undefined) throw new Error(`expected an object at ${edit.path.slice(0, -1).join(".")}`);
  return changed;
}

/** A stretch of the text, and what comes in its place. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** How this file is written: its line break, and by how much it indents. */
interface Style {
  readonly eol: string;
  readonly unit: string;
}

/**
 * The text with one value set or removed. Adds only, or takes out only, what belongs to that value, so that comments,
 * order, indentation, line breaks and trailing commas of all else survive: jsonc-parser's own `modify` takes comments
 * beside a removed member along, and moves those behind the last one.
 *
 * The text must be an object in JSON with comments, without a byte-order mark. null on the path is how programs write
 * that there is no object yet. Undefined where anything else there is no object or list: what to do with it is not for
 * us to say.
 */
export function changeJson(text: string, { path, value }: EntryChange): string | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return undefined;
  const style = styleOf(text, root);
  const found = findNodeAtLocation(root, [...path]);
  if (value === undefined) return found === undefined ? text : apply(text, removal(text, found));
  if (found !== undefined)
    return apply(text, [
      {
        start: found.offset,
        end: found.offset + found.length,
        text: written(value, lineIndent(text, found.offset), style),
      },
    ]);
  for (let depth = path.length - 1; depth >= 0; depth -= 1) {
    const parent = depth === 0 ? root : findNodeAtLocation(root, path.slice(0, depth));
    if (parent === undefined) continue;
    const [key, ...inner] = path.slice(depth);
    const nested = inner.reduceRight<unknown>(
      (within, part) => (typeof part === "number" ? [within] : { [part]: within }),
      value,
    );
    if (parent.type === "object" && typeof key === "string")
      return apply(text, insertion(text, { parent, key, value: nested, style }));
    if (parent.type === "array" && key === (parent.children ?? []).length)
      return apply(text, insertion(text, { parent, value: nested, style }));
    if (typeof key === "string" && parent.type === "null") {
      const object = written({ [key]: nested }, lineIndent(text, parent.offset), style);
      return apply(text, [{ start: parent.offset, end: parent.offset + parent.length, text: object }]);
    }
    return undefined;
  }
  return undefined;
}

function apply(text: string, edits: readonly Edit[]): string {
  // From the end, so that places before stay what they are; of two at one place the first one comes first.
  return edits
    .toSorted((one, other) => one.start - other.start)
    .reduceRight((result, { start, end, text: put }) => result.slice(0, start) + put + result.slice(end), text);
}

function styleOf(text: string, root: Node): Style {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const [first] = root.children ?? [];
  const indent = first === undefined || !startsLine(text, first.offset) ? "" : lineIndent(text, first.offset);
  return { eol, unit: indent === "" ? "  " : indent };
}

/** Lists of plain values stay on one line as long as people would leave them there. */
const longestLine = 100;

/** The value over as many lines as it takes, with `indent` before all but the first. */
function written(value: unknown, indent: string, style: Style): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent + style.unit;
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const members = Array.isArray(value)
    ? value.map((item) => written(item, inner, style))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}: ${written(item, inner, style)}`);
  if (members.length === 0) return open + close;
  const line = `[${members.join(", ")}]`;
  if (Array.isArray(value) && !line.includes("\n") && line.length + inner.length <= longestLine) return line;
  const { eol } = style;
  return `${open}${eol}${members.map((member) => inner + member).join(`,${eol}`)}${eol}${indent}${close}`;
}

interface Insertion {
  readonly parent: Node;
  /** Absent in a list. */
  readonly key?: string;
  readonly value: unknown;
  readonly style: Style;
}

function insertion(text: string, { parent, key, value, style }: Insertion): readonly Edit[] {
  const open = parent.offset + 1;
  const close = parent.offset + parent.length - 1;
  const last = parent.children?.at(-1);
  const isOnOneLine =
    !text.slice(parent.offset, close).includes("\n") &&
    (last !== undefined || !text.trimEnd().includes("\n")) &&
    text.trim() !== "{}";
  const around = tokensBetween(text, last === undefined ? open : last.offset + last.length, close);
  const comma = around.find(({ kind }) => kind === tokenKinds.comma);
  const lastToken = around.at(-1);
  // After the comments behind the last member, because they are about that one.
  const place = lastToken?.end ?? (last === undefined ? open : last.offset + last.length);
  const separator: Edit[] =
    last === undefined || comma !== undefined
      ? []
      : [{ start: last.offset + last.length, end: last.offset + last.length, text: "," }];
  const closing = comma === undefined ? "" : ",";
  const name = key === undefined ? "" : `${JSON.stringify(key)}: `;
  if (isOnOneLine) {
    const pair = `${name}${JSON.stringify(value)}`;
    return [...separator, { start: place, end: place, text: `${last === undefined ? "" : " "}${pair}${closing}` }];
  }
  const outer = lineIndent(text, parent.offset);
  const indent =
    last !== undefined && startsLine(text, last.offset) ? lineIndent(text, last.offset) : outer + style.unit;
  const pair = `${style.eol}${indent}${name}${written(value, indent, style)}${closing}`;
  const rest = text.slice(place, close);
  if (rest.includes("\n")) return [...separator, { start: place, end: place, text: pair }];
  return [...separator, { start: place, end: close, text: `${pair}${style.eol}${outer}` }];
}

function removal(text: string, found: Node): readonly Edit[] {
  const parent = found.parent?.type === "property" ? found.parent.parent : found.parent;
  const member = found.parent?.type === "property" ? found.parent : found;
  const siblings = parent?.children ?? [];
  const inside =
    parent === undefined ? undefined : { start: parent.offset + 1, end: parent.offset + parent.length - 1 };
  const isAlone = siblings.length === 1 && inside !== undefined && isBlank(text, inside.start, member.offset);
  if (
    isAlone &&
    tokensBetween(text, member.offset + member.length, inside.end).every(({ kind }) => kind === tokenKinds.comma)
  )
    return [{ ...inside, text: "" }];
  const at = siblings.indexOf(member);
  const end = member.offset + member.length;
  const next = siblings[at + 1];
  const previous = siblings[at - 1];
  const parentEnd = parent === undefined ? end : parent.offset + parent.length - 1;
  const commaAfter = findComma(text, end, next?.offset ?? parentEnd);
  const own: Edit[] = [{ start: member.offset, end, text: "" }];
  if (commaAfter !== undefined) own.push({ start: commaAfter, end: commaAfter + 1, text: "" });
  const cuts = [...own];
  if (commaAfter === undefined && previous !== undefined) {
    const before = findComma(text, previous.offset + previous.length, member.offset);
    if (before !== undefined) cuts.push({ start: before, end: before + 1, text: "" });
  }
  const from = lineStart(text, member.offset);
  const to = lineEnd(text, own.at(-1)?.end ?? end);
  const left = apply(
    text.slice(from, to),
    own.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from })),
  );
  const hasOwnLines = left.trim() === "" && from > 0;
  if (hasOwnLines) return [...cuts.filter((edit) => !own.includes(edit)), { start: from, end: to, text: "" }];
  // Inside a line: with the spaces that kept it apart, before it if it was the last one, otherwise behind it.
  const isLast = next === undefined;
  const cutEnd = own.at(-1)?.end ?? end;
  const spacesAfter = isLast ? 0 : (/^[ \t]*/.exec(text.slice(cutEnd))?.[0].length ?? 0);
  const spacesBefore =
    isLast && previous !== undefined ? (/[ \t]*$/.exec(text.slice(0, member.offset))?.[0].length ?? 0) : 0;
  return [
    ...cuts,
    ...(spacesAfter > 0 ? [{ start: cutEnd, end: cutEnd + spacesAfter, text: "" }] : []),
    ...(spacesBefore > 0 ? [{ start: member.offset - spacesBefore, end: member.offset, text: "" }] : []),
  ];
}

/** Of jsonc-parser's SyntaxKind, which is an enum that a module alone cannot read. */
const tokenKinds = { comma: 5, lineBreak: 14, spaces: 15, end: 17 } as const;

interface Token {
  readonly kind: number;
  readonly start: number;
  readonly end: number;
}

/** The commas and comments between two places, without spaces. */
function tokensBetween(text: string, start: number, end: number): readonly Token[] {
  const scanner = createScanner(text, false);
  scanner.setPosition(start);
  const tokens: Token[] = [];
  for (;;) {
    const kind: number = scanner.scan();
    const at = scanner.getTokenOffset();
    if (kind === tokenKinds.end || at >= end) return tokens;
    if (kind !== tokenKinds.spaces && kind !== tokenKinds.lineBreak)
      tokens.push({ kind, start: at, end: at + scanner.getTokenLength() });
  }
}

function isBlank(text: string, start: number, end: number): boolean {
  return text.slice(start, end).trim() === "";
}

function findComma(text: string, start: number, end: number): number | undefined {
  return tokensBetween(text, start, end).find(({ kind }) => kind === tokenKinds.comma)?.start;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Behind the line break. */
function lineEnd(text: string, offset: number): number {
  const at = text.indexOf("\n", offset);
  return at === -1 ? text.length : at + 1;
}

/** The spaces at the beginning of the line of `offset`. */
function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

function startsLine(text: string, offset: number): boolean {
  return lineStart(text, offset) > 0 && text.slice(lineStart(text, offset), offset).trim() === "";
}
