import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { deepestJson } from "../../kernel/limits.ts";
import { openBrace } from "./characters.ts";
import { asciiJson } from "./ascii-json.ts";
import { scanElements, scanMembers, skipSpace, type Member, type Span, findMember } from "./json-scan.ts";

/**
 * The bytes with `after` in place of `before`, which is what was parsed of them. Parts that are the same object in both
 * stay the bytes that they are; the others are written. Of several members with one name, the last stays, as in what
 * was parsed. `before` and `after` should be parsed exactly (`exact-json.ts`), so that numbers stay as they are.
 */
export function spliceJson(bytes: JsonBytes, before: unknown, after: unknown): JsonBytes {
  const pieces: Buffer[] = [];
  write({ bytes, pieces }, { start: skipSpace(bytes, 0, bytes.length), end: bytes.length }, before, after);
  return Buffer.concat(pieces);
}

interface Splice {
  readonly bytes: JsonBytes;
  readonly pieces: Buffer[];
}

function write(splice: Splice, span: Span, before: unknown, after: unknown): void {
  const { bytes, pieces } = splice;
  if (before === after) pieces.push(bytes.subarray(span.start, span.end));
  else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    const spans = scanElements(bytes, span.start, span.end, deepestJson, before.length);
    pieces.push(Buffer.from("["));
    for (const [index, element] of spans.entries()) {
      if (index > 0) pieces.push(Buffer.from(","));
      write(splice, element, before[index], after[index]);
    }
    pieces.push(Buffer.from("]"));
  } else if (isJsonObject(before) && isJsonObject(after) && bytes[span.start] === openBrace)
    writeMembers(splice, span, before, after);
  else pieces.push(Buffer.from(asciiJson(after), "latin1"));
}

function writeMembers(
  splice: Splice,
  { start, end }: Span,
  before: { readonly [key: string]: unknown },
  after: { readonly [key: string]: unknown },
): void {
  const { bytes, pieces } = splice;
  const members = new Map<string, Member>();
  for (const member of scanMembers(bytes, start, end, deepestJson)) members.set(member.key, member);
  let lead = "{";
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const member = members.get(key);
    pieces.push(Buffer.from(lead));
    lead = ",";
    if (member === undefined) pieces.push(Buffer.from(`${asciiJson(key)}:${asciiJson(value)}`, "latin1"));
    else {
      pieces.push(bytes.subarray(member.keyStart, member.start));
      write(splice, member, before[key], value);
    }
  }
  pieces.push(Buffer.from(lead === "{" ? "{}" : "}"));
}

/** The same result with members inserted at the beginning of its `_meta`. Every other byte stays. */
export function withMetaEntries(result: JsonBytes, entries: JsonObject): JsonBytes {
  return withEntries(result, "_meta", entries);
}

/**
 * The same object with members inserted at the beginning of one of its own members, which is an object or absent; any
 * other value there is replaced. Every other byte stays.
 */
export function withEntries(result: JsonBytes, within: string, entries: JsonObject): JsonBytes {
  const members = scanMembers(result, 0, result.length, deepestJson);
  const text = asciiJson(entries).slice(1, -1);
  const meta = findMember(members, within);
  if (meta === undefined)
    return Buffer.concat([
      Buffer.from(`{${asciiJson(within)}:{${text}}${members.length > 0 ? "," : ""}`, "latin1"),
      result.subarray(result.indexOf(openBrace) + 1),
    ]);
  // A `_meta` that is no object violates the protocol, so that nothing of it is worth keeping.
  if (result[meta.start] !== openBrace)
    return Buffer.concat([
      result.subarray(0, meta.start),
      Buffer.from(`{${text}}`, "latin1"),
      result.subarray(meta.end),
    ]);
  const isEmpty = skipSpace(result, meta.start + 1, meta.end - 1) === meta.end - 1;
  return Buffer.concat([
    result.subarray(0, meta.start + 1),
    Buffer.from(`${text}${isEmpty ? "" : ","}`, "latin1"),
    result.subarray(meta.start + 1),
  ]);
}
