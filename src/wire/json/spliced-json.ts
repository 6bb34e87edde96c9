import { isJsonObject, type JsonBytes } from "../../kernel/text/json-bytes.ts";
import { deepestJson } from "../../kernel/limits.ts";
import { openBrace } from "./characters.ts";
import { asciiJson } from "./ascii-json.ts";
import { scanElements, scanMembers, skipSpace, type Member, type Span } from "./json-scan.ts";

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
