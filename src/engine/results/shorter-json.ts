import { deepestJson } from "../../kernel/limits.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import { backslash, openBrace, openBracket, quote } from "../../wire/json/characters.ts";
import { scanElements, scanMembers, skipSpace, type Span } from "../../wire/json/json-scan.ts";

/** An array of which only the first elements were kept. */
export interface ShortenedArray {
  /** Where it stands: `items`, `pages[0].rows`; empty for the whole value. */
  readonly path: string;
  readonly kept: number;
  readonly of: number;
}

export interface ShortenedJson {
  /** A JSON value of the same shape: every byte that is kept is the server's. */
  readonly bytes: JsonBytes;
  readonly arrays: readonly ShortenedArray[];
}

/** More elements are not told apart: an array of them is far beyond any budget. */
const mostElements = 1_000_000;
/** What a string is cut down to says that it was cut. */
const ellipsis = Buffer.from("…", "utf8");

/**
 * A JSON value made to fit into about `budgetBytes`: arrays keep their first elements, long strings their beginnings,
 * objects all of their members. What does not need to be shorter is untouched. Members that are small stay whole, and
 * the large ones share what is left. The result may be a little larger than the budget where nothing more can go
 * (the names of an object's members).
 *
 * Throws PARSE_ERROR when the bytes are no JSON value.
 */
export function shortenJson(bytes: JsonBytes, budgetBytes: number): ShortenedJson {
  const arrays: ShortenedArray[] = [];
  const pieces: Buffer[] = [];
  const start = skipSpace(bytes, 0, bytes.length);
  shorten({ bytes, pieces, arrays }, { start, end: bytes.length }, budgetBytes, "");
  return { bytes: Buffer.concat(pieces), arrays };
}

interface Shortening {
  readonly bytes: Buffer;
  readonly pieces: Buffer[];
  readonly arrays: ShortenedArray[];
}

function shorten(work: Shortening, span: Span, budget: number, path: string): void {
  const { bytes, pieces } = work;
  const first = bytes[span.start];
  if (span.end - span.start <= budget) pieces.push(bytes.subarray(span.start, span.end));
  else if (first === openBracket) shortenArray(work, span, budget, path);
  else if (first === openBrace) shortenObject(work, span, budget, path);
  else if (first === quote) pieces.push(shortenString(bytes, span, budget));
  else pieces.push(bytes.subarray(span.start, span.end));
}

function shortenArray(work: Shortening, span: Span, budget: number, path: string): void {
  const { bytes, pieces, arrays } = work;
  const elements = scanElements(bytes, span.start, span.end, deepestJson, mostElements);
  let left = budget - 2;
  let kept = 0;
  pieces.push(Buffer.from("["));
  for (const element of elements) {
    const size = element.end - element.start + 1;
    // The first is made shorter rather than left out: an empty array would say that there is nothing.
    if (size > left && kept > 0) break;
    if (kept > 0) pieces.push(Buffer.from(","));
    shorten(work, element, left, `${path}[${kept}]`);
    left -= size;
    kept += 1;
    if (left <= 0) break;
  }
  pieces.push(Buffer.from("]"));
  if (kept < elements.length) arrays.push({ path, kept, of: elements.length });
}

function shortenObject(work: Shortening, span: Span, budget: number, path: string): void {
  const { bytes, pieces } = work;
  const members = scanMembers(bytes, span.start, span.end, deepestJson);
  const names = members.reduce((sum, member) => sum + member.start - member.keyStart + 1, 2);
  const share = shareOf(
    members.map((member) => member.end - member.start),
    budget - names,
  );
  pieces.push(Buffer.from("{"));
  for (const [index, member] of members.entries()) {
    if (index > 0) pieces.push(Buffer.from(","));
    pieces.push(bytes.subarray(member.keyStart, member.start));
    shorten(work, member, share, path === "" ? member.key : `${path}.${member.key}`);
  }
  pieces.push(Buffer.from("}"));
}

/** How much each may have so that all together fit: those that need less leave the rest to the others. */
function shareOf(sizes: readonly number[], budget: number): number {
  const ascending = sizes.toSorted((one, other) => one - other);
  let left = Math.max(0, budget);
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return share;
    left -= size;
  }
  return left;
}

/** Its beginning, ended between two characters and behind no half of an escape. */
function shortenString(bytes: Buffer, { start, end }: Span, budget: number): Buffer {
  let cut = start + Math.max(1, budget - ellipsis.length - 1);
  // An escape is at most `\uXXXX\uXXXX`; an odd number of backslashes before the cut belongs to one.
  const escape = bytes.subarray(Math.max(start + 1, cut - 11), cut).lastIndexOf(backslash);
  if (escape !== -1) {
    const at = Math.max(start + 1, cut - 11) + escape;
    let run = 0;
    while (bytes[at - run] === backslash && at - run > start) run += 1;
    if (run % 2 === 1) cut = at;
    // The second half of a pair of escapes that write one character.
    if (/\\u[dD][89abAB][0-9a-fA-F]{2}$/.test(bytes.toString("latin1", Math.max(start, cut - 6), cut))) cut -= 6;
  }
  // UTF-8: a byte 10xxxxxx continues a character.
  while (cut > start + 1 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  return Buffer.concat([bytes.subarray(start, Math.min(cut, end - 1)), ellipsis, Buffer.from('"')]);
}
