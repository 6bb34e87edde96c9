import { createScanner, findNodeAtLocation, parseTree, type Node } from "jsonc-parser";
import { parseDocument } from "../document.ts";
import { InvalidConfig } from "../problems.ts";
import { serverObjects } from "../source.ts";
import type { ImportedEntry } from "./client-entry.ts";

/**
 * The text of our configuration with these servers added behind those that it has. Everything else is kept letter for
 * letter: comments, order, line ends, indentation and a byte-order mark. `text` is undefined where there is no file
 * yet. Throws InvalidConfig for a text that is no configuration, and for a name that is there already.
 */
export function addServers(
  text: string | undefined,
  servers: readonly (readonly [string, ImportedEntry])[],
  fileName: string,
): string {
  const given = text === undefined || text.replace(/^\uFEFF/, "").trim() === "" ? "{}\n" : text;
  const mark = given.startsWith("\uFEFF") ? "\uFEFF" : "";
  const source = given.slice(mark.length);
  const document = parseDocument(source, fileName);
  const parent = serverObjects(document)[0];
  for (const [key] of servers) {
    const path = [...(parent ?? ["mcpServers"]), key];
    if (document.value(path) !== undefined)
      throw new InvalidConfig([`${document.place(path)}: there is a server of this name already`]);
  }
  const written =
    parent === undefined
      ? addMembers(source, [], [["mcpServers", Object.fromEntries(servers)]])
      : addMembers(source, parent, servers);
  refuseLoss(written, { parent: parent ?? ["mcpServers"], servers, fileName });
  return mark + written;
}

/** Where and what was added. */
interface Added {
  readonly parent: readonly (string | number)[];
  readonly servers: readonly (readonly [string, ImportedEntry])[];
  readonly fileName: string;
}

/** A name such as `__proto__` would not become data. */
function refuseLoss(written: string, { parent, servers, fileName }: Added): void {
  const document = parseDocument(written, fileName);
  for (const [key, entry] of servers) {
    const isThere = document.keys(parent).includes(key) && document.wrongKeys.every(({ path }) => path.at(-1) !== key);
    if (!isThere || JSON.stringify(document.value([...parent, key])) !== JSON.stringify(entry))
      throw new InvalidConfig([`${fileName}: a server cannot be called ${JSON.stringify(key)}`]);
  }
}

/**
 * The text with members added at the end of the object at `path`, which must be there. Nothing that stands in the text
 * is changed, except that a comma is added behind the last member. The library's own editing would format its
 * neighbours.
 */
function addMembers(
  source: string,
  path: readonly (string | number)[],
  members: readonly (readonly [string, unknown])[],
): string {
  const root = parseTree(source, [], { allowTrailingComma: true });
  const object = root && findNodeAtLocation(root, [...path]);
  if (object?.type !== "object" || members.length === 0) return source;
  const eol = source.includes("\r\n") ? "\r\n" : "\n";
  const step = /^([ \t]+)\S/m.exec(source)?.[1] ?? "  ";
  const close = object.offset + object.length - 1;
  const outer = lineIndent(source, object.offset);
  const first = object.children?.[0];
  const inner =
    first !== undefined && isFirstOnLine(source, first.offset) ? lineIndent(source, first.offset) : outer + step;
  const last = object.children?.at(-1);
  const commaAt = last && commaBehind(source, last, close);
  const texts = members.map(([key, value]) => {
    const json = JSON.stringify(value, undefined, step).replaceAll("\n", eol + inner);
    return `${inner}${JSON.stringify(key)}: ${json}`;
  });
  const block = texts.join(`,${eol}`) + (commaAt === undefined ? "" : ",");
  const isOwnLine = isFirstOnLine(source, close);
  const at = isOwnLine ? source.lastIndexOf("\n", close - 1) + 1 : close;
  const added = isOwnLine ? `${block}${eol}` : `${eol}${block}${eol}${outer}`;
  const before = source.slice(0, at);
  if (last === undefined || commaAt !== undefined) return before + added + source.slice(at);
  const end = last.offset + last.length;
  return `${before.slice(0, end)},${before.slice(end)}${added}${source.slice(at)}`;
}

/** The comma behind the last member, if there is one: there may be comments between. */
function commaBehind(source: string, last: Node, close: number): number | undefined {
  const scanner = createScanner(source.slice(0, close), true);
  scanner.setPosition(last.offset + last.length);
  scanner.scan();
  return source[scanner.getTokenOffset()] === "," && scanner.getTokenOffset() < close
    ? scanner.getTokenOffset()
    : undefined;
}

function isFirstOnLine(source: string, offset: number): boolean {
  const start = source.lastIndexOf("\n", offset - 1) + 1;
  return start > 0 && source.slice(start, offset).trim() === "";
}

function lineIndent(source: string, offset: number): string {
  return /^[ \t]*/.exec(source.slice(source.lastIndexOf("\n", offset - 1) + 1, offset))?.[0] ?? "";
}
