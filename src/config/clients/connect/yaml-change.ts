import { Lexer, isMap, isPair, isScalar, parseDocument, Document, type Pair, type YAMLMap } from "yaml";
import type { EntryChange } from "../../entry/entry-change.ts";

/**
 * The text with one value set or removed. Only the outermost member that the path begins with is written again, with
 * its comments; the rest of the text stays as it is. The text must be YAML without a byte-order mark and a map, or
 * empty.
 *
 * Undefined where something on the path exists and is no map or list, and where a comment would be lost.
 */
export function changeYaml(text: string, change: EntryChange): string | undefined {
  const changed = withMember(text, change);
  return changed === undefined || keepsComments(text, changed) ? changed : undefined;
}

function withMember(text: string, { path, value }: EntryChange): string | undefined {
  const document = parseDocument(text, { keepSourceTokens: true });
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const outermost = String(path[0]);
  const pair = memberOf(document, outermost);
  if (pair === undefined) {
    if (value === undefined) return text;
    return withLine(text, eol) + written(new Document(nested(path, value)), { eol });
  }
  const start = startOf(pair);
  const end = endOf(pair, text);
  if (start === undefined || end === undefined) return undefined;
  try {
    if (value === undefined) document.deleteIn([...path]);
    else {
      const length = existingLength(document, path);
      document.setIn(path.slice(0, length), document.createNode(nested(path.slice(length), value)));
    }
  } catch {
    return undefined;
  }
  const changed = memberOf(document, outermost);
  if (changed === undefined) return text.slice(0, start) + text.slice(end);
  const only = new Document<YAMLMap, false>({});
  only.contents?.items.push(changed);
  // Comments before the member are before its place in the text as well.
  if (isScalar(changed.key)) {
    changed.key.commentBefore = null;
    changed.key.spaceBefore = false;
  }
  return text.slice(0, start) + written(only, { eol, like: text.slice(start, end) }) + text.slice(end);
}

/** A key without a value on the path is how people write that there is no map yet: the value goes in its place. */
function existingLength(document: Document, path: EntryChange["path"]): number {
  const isEmpty = (length: number): boolean => {
    const node: unknown = document.getIn(path.slice(0, length), true);
    return isScalar(node) && node.value === null;
  };
  return path.findIndex((_step, index) => isEmpty(index + 1)) + 1 || path.length;
}

function memberOf(document: Document, key: string): Pair | undefined {
  if (!isMap(document.contents)) return undefined;
  return document.contents.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key) as
    | Pair
    | undefined;
}

function startOf({ key }: Pair): number | undefined {
  return isScalar(key) ? key.range?.[0] : undefined;
}

/** Behind the member, with its line break and the comments that stand inside it. */
function endOf({ value }: Pair, text: string): number | undefined {
  const range = (value as { readonly range?: readonly [number, number, number] } | null)?.range;
  if (range === undefined) return undefined;
  const end = range[2];
  if (end === 0 || text[end - 1] === "\n") return end;
  const at = text.indexOf("\n", end);
  return at === -1 ? text.length : at + 1;
}

/** The value in the objects and lists that the path leads through. */
function nested(path: EntryChange["path"], value: unknown): unknown {
  return path.reduceRight<unknown>((within, key) => (typeof key === "number" ? [within] : { [key]: within }), value);
}

/** As its owner indents, where there is something to go by. Long lines stay long: commands are never folded. */
function written(
  document: Pick<Document, "toString">,
  { eol, like = "" }: { readonly eol: string; readonly like?: string },
): string {
  const first = /^( *)(- )?/m.exec(like.slice(like.indexOf("\n") + 1).replace(/^\s*(#.*)?\r?\n/gm, ""));
  const indent = first?.[1]?.length ?? 0;
  const isAtKey = first?.[2] !== undefined && indent === 0;
  return document
    .toString({
      lineWidth: 0,
      indentSeq: !isAtKey,
      flowCollectionPadding: !/[[{][^\s\]}]/.test(like),
      ...(indent > 1 && indent < 9 ? { indent } : {}),
    })
    .replaceAll("\n", eol);
}

function withLine(text: string, eol: string): string {
  return text === "" || text.endsWith("\n") ? text : text + eol;
}

function keepsComments(before: string, after: string): boolean {
  const left = commentsOf(after);
  return commentsOf(before).every((comment) => {
    const at = left.indexOf(comment);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
}

function commentsOf(text: string): string[] {
  return [...new Lexer().lex(text)].filter((token) => token.startsWith("#")).map((token) => token.trimEnd());
}
