import { findNodeAtLocation, getNodeValue, parseTree } from "jsonc-parser";

/** A server's entry within the text of a configuration. */
export interface EntryText {
  /** The whole text, which these are parts of. */
  readonly whole: string;
  readonly before: string;
  /** As it would stand by itself: without the indentation of its place. */
  readonly own: string;
  readonly after: string;
  readonly indent: string;
}

/** Undefined where there is no such entry. */
export function entryTextOf(whole: string, path: readonly string[]): EntryText | undefined {
  const root = parseTree(whole, [], { allowTrailingComma: true });
  const node = root === undefined ? undefined : findNodeAtLocation(root, [...path]);
  if (node?.type !== "object") return undefined;
  const [before, after] = [whole.slice(0, node.offset), whole.slice(node.offset + node.length)];
  const [indent = ""] = /[ \t]*/.exec(before.slice(before.lastIndexOf("\n") + 1)) ?? [];
  const [first = "", ...lines] = whole.slice(node.offset, node.offset + node.length).split("\n");
  const own = [first, ...lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))].join("\n");
  return { whole, before, own, after, indent };
}

/** The whole text with another entry in this place. */
export function withEntryText({ before, after, indent }: EntryText, own: string): string {
  const [first = "", ...lines] = own.split("\n");
  return before + [first, ...lines.map((line) => (line.trim() === "" ? line : indent + line))].join("\n") + after;
}

/** Where something in the whole text is in the entry; undefined where it is elsewhere. */
export function placeInEntry(
  { before, own, indent }: EntryText,
  { line, column }: { readonly line: number; readonly column: number },
): { readonly line: number; readonly column: number } | undefined {
  const above = before.split("\n");
  const ownLine = line - above.length + 1;
  if (ownLine < 1 || ownLine > own.split("\n").length) return undefined;
  const left = ownLine === 1 ? (above.at(-1) ?? "").length : indent.length;
  return column <= left ? undefined : { line: ownLine, column: column - left };
}

/** The values of an entry, by field; undefined where there is no such entry. */
export function entryValues(whole: string, path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  const root = parseTree(whole, [], { allowTrailingComma: true });
  const node = root === undefined ? undefined : findNodeAtLocation(root, [...path]);
  return node?.type === "object" ? (getNodeValue(node) as Readonly<Record<string, unknown>>) : undefined;
}
