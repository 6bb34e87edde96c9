import { deepestJson } from "../../kernel/limits.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  space,
} from "../../wire/json/characters.ts";
import { skipSpace, skipValue, type Span } from "../../wire/json/json-scan.ts";

/** An array of which only the first elements were kept. */
export interface ShortenedArray {
  /** Its path: `items`, `pages[0].rows`; empty for the whole value. */
  readonly path: string;
  readonly kept: number;
  readonly of: number;
}

export interface ShortenedJson {
  /** A JSON value of the same shape: every byte that is kept is the server's. */
  readonly bytes: JsonBytes;
  readonly arrays: readonly ShortenedArray[];
}

/** More members of an object, or elements that may be kept of an array, are far beyond any budget. */
const mostItems = 100_000;
/** How much is processed before others may have their turn. */
const sliceBytes = 65_536;
/** What a string is cut down to says that it was cut. */
const ellipsis = Buffer.from("…", "utf8");

/**
 * A JSON value made to fit into about `budgetBytes`: arrays keep their first elements, long strings their beginnings,
 * objects all of their members. A value that need not be shorter is untouched. Small members stay whole, and the large
 * ones share the rest of the budget. The result may be a little larger than the budget where nothing more can go (the
 * names of an object's members).
 *
 * Throws PARSE_ERROR when the bytes are no JSON value.
 */
export function* shortenJson(bytes: JsonBytes, budgetBytes: number): Generator<void, ShortenedJson> {
  const arrays: ShortenedArray[] = [];
  const pieces: Buffer[] = [];
  const start = skipSpace(bytes, 0, bytes.length);
  yield* shorten({ bytes, pieces, arrays }, { start, end: bytes.length }, budgetBytes, "");
  return { bytes: Buffer.concat(pieces), arrays };
}

interface Shortening {
  readonly bytes: Buffer;
  readonly pieces: Buffer[];
  readonly arrays: ShortenedArray[];
}

function* shorten(work: Shortening, span: Span, budget: number, path: string): Generator<void, void> {
  const { bytes, pieces } = work;
  const first = bytes[span.start];
  if (span.end - span.start <= budget) pieces.push(bytes.subarray(span.start, span.end));
  else if (first === openBracket) yield* shortenArray(work, span, budget, path);
  else if (first === openBrace) yield* shortenObject(work, span, budget, path);
  else if (first === quote) pieces.push(shortenString(bytes, span, budget));
  else pieces.push(bytes.subarray(span.start, span.end));
}

function* shortenArray(work: Shortening, span: Span, budget: number, path: string): Generator<void, void> {
  const { bytes, pieces, arrays } = work;
  const { items, count } = yield* itemsOf(bytes, span, Math.min(mostItems, budget));
  let left = budget - 2;
  let kept = 0;
  pieces.push(Buffer.from("["));
  for (const element of items) {
    const size = element.end - element.start + 1;
    // The first is made shorter rather than left out: an empty array would say that there is nothing.
    if (size > left && kept > 0) break;
    if (kept > 0) pieces.push(Buffer.from(","));
    yield* shorten(work, element, left, `${path}[${kept}]`);
    left -= size;
    kept += 1;
    if (left <= 0) break;
  }
  pieces.push(Buffer.from("]"));
  if (kept < count) arrays.push({ path, kept, of: count });
}

function* shortenObject(work: Shortening, span: Span, budget: number, path: string): Generator<void, void> {
  const { bytes, pieces } = work;
  const { items, count } = yield* itemsOf(bytes, span, mostItems);
  if (count > items.length) {
    pieces.push(bytes.subarray(span.start, span.end));
    return;
  }
  const names = items.reduce((sum, item) => sum + item.start - item.keyStart + 1, 2);
  const share = shareOf(
    items.map((item) => item.end - item.start),
    budget - names,
  );
  pieces.push(Buffer.from("{"));
  for (const [index, item] of items.entries()) {
    if (index > 0) pieces.push(Buffer.from(","));
    pieces.push(bytes.subarray(item.keyStart, item.start));
    // A name is decoded where something is said of it: of most nothing is.
    const isLarge = item.end - item.start > share;
    yield* shorten(work, item, share, isLarge ? withName(path, bytes, item) : path);
  }
  pieces.push(Buffer.from("}"));
}

/** A member or an element; that has no name, and its `keyStart` is its `start`. */
interface Item extends Span {
  readonly keyStart: number;
}

function withName(path: string, bytes: Buffer, { keyStart, start }: Item): string {
  const written = bytes.toString("utf8", keyStart, start);
  const name = JSON.parse(written.slice(0, written.lastIndexOf('"') + 1)) as string;
  return path === "" ? name : `${path}.${name}`;
}

/** The first items of an object or array, and how many there are. */
function* itemsOf(
  bytes: Buffer,
  { start, end }: Span,
  most: number,
): Generator<void, { readonly items: readonly Item[]; readonly count: number }> {
  const items: Item[] = [];
  let count = 0;
  let depth = 0;
  let from = start + 1;
  let valueStart = from;
  let stop = start + sliceBytes;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = skipValue(bytes, at, end, deepestJson) - 1;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === colon && depth === 1) valueStart = at + 1;
    else {
      if (byte === closeBrace || byte === closeBracket) depth -= 1;
      const endsItem = (byte === comma && depth === 1) || (depth === 0 && byte !== comma);
      if (endsItem) {
        const keyStart = skipSpace(bytes, from, at);
        if (keyStart < at) {
          count += 1;
          if (items.length < most)
            items.push({ keyStart, start: skipSpace(bytes, valueStart, at), end: lastSign(bytes, at) });
        }
        if (depth === 0) break;
        from = at + 1;
        valueStart = from;
      }
    }
    if (at < stop) continue;
    yield;
    stop = at + sliceBytes;
  }
  return { items, count };
}

/** Behind the last byte before `end` that is no white space. */
function lastSign(bytes: Buffer, end: number): number {
  let at = end;
  while ((bytes[at - 1] as number) <= space) at -= 1;
  return at;
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
