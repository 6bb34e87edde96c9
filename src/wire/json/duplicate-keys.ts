import { deepestJson } from "../../kernel/limits.ts";
import { backslash, colon, openBrace, openBracket, quote } from "./characters.ts";
import type { JsonBytes, JsonObject } from "../../kernel/json-bytes.ts";
import { scanElements, scanMembers, type Member } from "./json-scan.ts";

/**
 * The same JSON with all but the last of duplicate keys removed from every object, so that the server sees the same
 * member as our check, whose JSON.parse keeps the last one (fault 16). Returns `bytes` itself when there are no
 * duplicates, which is nearly always the case.
 *
 * @param value what JSON.parse made of `bytes`
 */
export function dropDuplicateKeys(bytes: JsonBytes, value: unknown): JsonBytes {
  return countColons(bytes) === countKeys(value) ? bytes : rebuild(bytes, 0, bytes.length);
}

/** The number of colons outside strings, which is the number of members in the text. */
function countColons(bytes: JsonBytes): number {
  let count = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
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

function rebuild(bytes: Buffer, start: number, end: number): Buffer {
  if (bytes[start] === openBracket) {
    const elements = scanElements(bytes, start, end, deepestJson, Number.MAX_SAFE_INTEGER);
    return join(
      "[",
      elements.map((element) => rebuild(bytes, element.start, element.end)),
      "]",
    );
  }
  if (bytes[start] !== openBrace) return bytes.subarray(start, end);
  const members = scanMembers(bytes, start, end, deepestJson);
  const kept = lastOfEach(members);
  return join(
    "{",
    kept.map((member) =>
      Buffer.concat([bytes.subarray(member.keyStart, member.start), rebuild(bytes, member.start, member.end)]),
    ),
    "}",
  );
}

/** The last member of each name, in the order of the text. */
function lastOfEach(members: readonly Member[]): readonly Member[] {
  const last = new Map(members.map((member) => [member.key, member]));
  return members.filter((member) => last.get(member.key) === member);
}

function join(open: string, parts: readonly Buffer[], close: string): Buffer {
  const pieces: Buffer[] = [Buffer.from(open)];
  for (const [index, part] of parts.entries()) {
    if (index > 0) pieces.push(Buffer.from(","));
    pieces.push(part);
  }
  pieces.push(Buffer.from(close));
  return Buffer.concat(pieces);
}
