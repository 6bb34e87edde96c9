import { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } from "./characters.ts";
import { skipString } from "./json-scan.ts";
import type { JsonBytes, JsonObject } from "../../kernel/text/json-bytes.ts";

/**
 * The same JSON with all but the last of duplicate keys removed from every object, so that the server sees the same
 * member as our check, whose JSON.parse keeps the last one (fault 16). Returns `bytes` itself when there are no
 * duplicates, which is nearly always the case.
 *
 * @param value what JSON.parse made of `bytes`
 */
export function dropDuplicateKeys(bytes: JsonBytes, value: unknown): JsonBytes {
  return countColons(bytes) === countKeys(value) ? bytes : withoutEarlier(bytes);
}

/** The number of colons outside strings, which is the number of members in the text. */
function countColons(bytes: JsonBytes): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === quote) at = skipString(bytes, at + 1, bytes.length) - 1;
    else if (byte === colon) count += 1;
  }
  return count;
}

/** Makes no lists of members, because it looks at the arguments of every call. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const child of value as readonly unknown[]) count += countKeys(child);
  // What JSON.parse makes inherits nothing that could be met here.
  else for (const key in value) count += 1 + countKeys((value as JsonObject)[key]);
  return count;
}

/** Objects and lists that are open while the text is read once, and the parts to leave out of it. */
interface Open {
  /** Where the member of each name begins and the one after it; undefined in a list. */
  readonly members: Map<string, { readonly start: number; next: number }> | undefined;
  last: { readonly start: number; next: number } | undefined;
}

/**
 * Without the members that another one of the same name follows, each with the comma behind it. The text is known to be
 * valid, so that a name is a text that follows the start of an object, or a comma.
 */
function withoutEarlier(bytes: Buffer): Buffer {
  const left: { readonly start: number; next: number }[] = [];
  const open: Open[] = [];
  let isName = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    const around = open.at(-1);
    if (byte === openBrace || byte === openBracket) {
      isName = byte === openBrace;
      open.push({ members: isName ? new Map() : undefined, last: undefined });
    } else if (byte === closeBrace || byte === closeBracket) open.pop();
    else if (byte === comma) isName = around?.members !== undefined;
    else if (byte === quote) {
      const end = skipString(bytes, at + 1, bytes.length);
      if (isName && around?.members !== undefined) {
        const name = JSON.parse(bytes.toString("utf8", at, end)) as string;
        if (around.last !== undefined) around.last.next = at;
        around.last = { start: at, next: at };
        const earlier = around.members.get(name);
        if (earlier !== undefined) left.push(earlier);
        around.members.set(name, around.last);
      }
      isName = false;
      at = end - 1;
    }
  }
  return leftOut(bytes, left);
}

function leftOut(bytes: Buffer, parts: readonly { readonly start: number; readonly next: number }[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, next } of parts.toSorted((one, other) => one.start - other.start)) {
    if (start > at) pieces.push(bytes.subarray(at, start));
    at = Math.max(at, next);
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}
