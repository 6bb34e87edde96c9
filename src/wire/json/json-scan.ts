import {
  backslash,
  carriageReturn,
  closeBrace,
  closeBracket,
  colon,
  comma,
  lineFeed,
  openBrace,
  openBracket,
  quote,
  space,
  tab,
} from "./characters.ts";
import { createLateTextSearch, searchedBytes, type TextSearch } from "./text-search.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * Finds the positions of values in a JSON text without building them, so that they can be cut out and passed on as
 * bytes.
 *
 * The scanner does not validate the text between values; text that must be valid is also passed to JSON.parse. It never
 * recurses, takes linear time, and refuses nesting beyond a limit before any other code sees the text: JSON.parse
 * accepts a million levels, and JSON.stringify throws after a few thousand.
 */

/** One member of an object: its key, and the bytes [start, end) of its value. */
export class Member {
  readonly #bytes: Buffer;
  /** Where the member begins, at the quote of its key; needed to remove the whole member. */
  readonly keyStart: number;
  readonly #keyEnd: number;
  readonly start: number;
  readonly end: number;

  constructor(bytes: Buffer, keyStart: number, keyEnd: number, start: number, end: number) {
    this.#bytes = bytes;
    this.keyStart = keyStart;
    this.#keyEnd = keyEnd;
    this.start = start;
    this.end = end;
  }

  get key(): string {
    return keyText(this.#bytes, this.keyStart, this.#keyEnd);
  }

  /** Whether the member has this key. `key` must be ASCII. */
  is(key: string): boolean {
    return isKey(this.#bytes, this.keyStart, this.#keyEnd, key);
  }
}

/** The bytes [start, end). */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The end of a string longer than this is searched for natively; for shorter strings a plain loop is faster. */
const nativeSearchFrom = 48;

/**
 * The members of the object that begins at `start`, possibly after white space, in order and with duplicates. Throws
 * PARSE_ERROR when there is no object within [start, end), and BODY_TOO_DEEP when its values nest more than
 * `maxDepth` levels.
 */
export function scanMembers(bytes: Buffer, start: number, end: number, maxDepth: number): Member[] {
  const found = new Found();
  walk(bytes, start, end, maxDepth, found, undefined, undefined);
  return found.members;
}

/**
 * {@link scanMembers} for an object and, in the same pass, for its last member called `key` (which must be ASCII).
 * `inner` is undefined when there is no such member or it is not an object.
 */
export function scanNested(
  bytes: Buffer,
  start: number,
  end: number,
  maxDepth: number,
  key: string,
): { readonly members: readonly Member[]; readonly inner: readonly Member[] | undefined } {
  const found = new Found();
  walk(bytes, start, end, maxDepth, found, undefined, key);
  return found;
}

/**
 * The last member called `key` (which must be ASCII) of the object that begins at `start`. Objects for the other
 * members are not made. Throws as {@link scanMembers} does.
 */
export function scanFor(bytes: Buffer, start: number, end: number, maxDepth: number, key: string): Member | undefined {
  const found = new Found();
  walk(bytes, start, end, maxDepth, found, key, undefined);
  return found.members[0];
}

/** Of one object: more is no message and no call, and an object is made for each. */
export const mostMembers = 100_000;

/** The error for more. */
export function tooManyMembers(): GatewayError {
  return new GatewayError("BODY_TOO_COMPLEX", `an object of the JSON has more than ${mostMembers} members`);
}

class Found {
  members: Member[] = [];
  inner: Member[] | undefined;
}

/**
 * Scans an object into `found` and returns where it ends. With `only`, just the last member of that name is kept.
 * With `nested`, the members of the last member of that name are kept too.
 */
function walk(
  bytes: Buffer,
  start: number,
  end: number,
  maxDepth: number,
  found: Found,
  only: string | undefined,
  nested: string | undefined,
): number {
  let at = skipSpace(bytes, start, end);
  if (bytes[at] !== openBrace) throw malformed("an object", at);
  at = skipSpace(bytes, at + 1, end);
  if (bytes[at] === closeBrace) return at + 1;
  for (;;) {
    if (bytes[at] !== quote) throw malformed("a member name", at);
    const keyStart = at;
    const keyEnd = skipString(bytes, at + 1, end);
    at = skipSpace(bytes, keyEnd, end);
    if (bytes[at] !== colon) throw malformed("a colon", at);
    const valueStart = skipSpace(bytes, at + 1, end);
    let valueEnd: number;
    if (nested !== undefined && isKey(bytes, keyStart, keyEnd, nested)) {
      const inside = bytes[valueStart] === openBrace && maxDepth > 0 ? new Found() : undefined;
      valueEnd =
        inside === undefined
          ? skipValue(bytes, valueStart, end, maxDepth)
          : walk(bytes, valueStart, end, maxDepth - 1, inside, undefined, undefined);
      found.inner = inside?.members;
    } else valueEnd = skipValue(bytes, valueStart, end, maxDepth);
    if (only === undefined) {
      if (found.members.length === mostMembers) throw tooManyMembers();
      found.members.push(new Member(bytes, keyStart, keyEnd, valueStart, valueEnd));
    } else if (isKey(bytes, keyStart, keyEnd, only))
      found.members[0] = new Member(bytes, keyStart, keyEnd, valueStart, valueEnd);
    at = skipSpace(bytes, valueEnd, end);
    if (bytes[at] === closeBrace) return at + 1;
    if (bytes[at] !== comma) throw malformed("a comma or the end of the object", at);
    at = skipSpace(bytes, at + 1, end);
  }
}

/** Compares a key without decoding it, because most members are skipped. `key` must be ASCII. */
function isKey(bytes: Buffer, keyStart: number, keyEnd: number, key: string): boolean {
  const length = keyEnd - keyStart - 2;
  if (length < key.length) return false;
  for (let index = 0; index < key.length; index += 1) {
    const byte = bytes[keyStart + 1 + index];
    if (byte === backslash) return keyText(bytes, keyStart, keyEnd) === key;
    if (byte !== key.charCodeAt(index)) return false;
  }
  return length === key.length;
}

/**
 * The elements of the array that begins at `start`, in order. Returns at most `limit` + 1, so that the caller can
 * tell that there are too many.
 */
export function scanElements(bytes: Buffer, start: number, end: number, maxDepth: number, limit: number): Span[] {
  const elements: Span[] = [];
  for (const element of eachElement(bytes, start, end, maxDepth)) {
    elements.push(element);
    if (elements.length > limit) break;
  }
  return elements;
}

/** The same one after the other, so that there may be other work between them. */
export function* eachElement(bytes: Buffer, start: number, end: number, maxDepth: number): Generator<Span, void> {
  let at = skipSpace(bytes, start, end);
  if (bytes[at] !== openBracket) throw malformed("an array", at);
  at = skipSpace(bytes, at + 1, end);
  if (bytes[at] === closeBracket) return;
  for (;;) {
    const valueEnd = skipValue(bytes, at, end, maxDepth);
    yield { start: at, end: valueEnd };
    at = skipSpace(bytes, valueEnd, end);
    if (bytes[at] === closeBracket) return;
    if (bytes[at] !== comma) throw malformed("a comma or the end of the array", at);
    at = skipSpace(bytes, at + 1, end);
  }
}

/**
 * The last member called `key`, which must be ASCII. JSON.parse also keeps the last of several, so the checked value
 * and the forwarded one agree.
 */
export function findMember(members: readonly Member[], key: string): Member | undefined {
  for (let index = members.length - 1; index >= 0; index -= 1) {
    const member = members[index];
    if (member?.is(key) === true) return member;
  }
  return undefined;
}

/** Bytes between strings that neither begin nor end anything: one look-up is cheaper than five comparisons. */
const isPlain = new Uint8Array(256).fill(1);
for (const byte of [quote, openBrace, closeBrace, openBracket, closeBracket]) isPlain[byte] = 0;

/** Returns where the value that begins at `start` ends. Throws as {@link scanMembers} does. */
export function skipValue(bytes: Buffer, start: number, end: number, maxDepth: number): number {
  const first = bytes[start];
  if (first === quote) return skipString(bytes, start + 1, end);
  if (first !== openBrace && first !== openBracket) return skipScalar(bytes, start, end);
  let depth = 0;
  let at = start;
  for (;;) {
    while (at < end && isPlain[bytes[at] as number] === 1) at += 1;
    if (at >= end) break;
    const byte = bytes[at];
    if (byte === quote) {
      at = skipString(bytes, at + 1, end);
      continue;
    }
    at += 1;
    if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > maxDepth)
        throw new GatewayError("BODY_TOO_DEEP", `the JSON nests deeper than the limit allows, at byte ${at}`);
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  throw malformed("the end of a value", end);
}

function skipScalar(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte === comma || byte === closeBrace || byte === closeBracket || byte <= space) break;
    at += 1;
  }
  if (at === start) throw malformed("a value", start);
  return at;
}

/** `start` is after the opening quote; returns the index after the closing one. Throws where there is none. */
export function skipString(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (let escapedQuotes = 0; ; escapedQuotes += 1) {
    const search = escapedQuotes < mostEscapedQuotes ? undefined : textSearch();
    if (search !== undefined) return skipEscaped(search, bytes, at, end);
    const patience = Math.min(end, at + nativeSearchFrom);
    while (at < patience) {
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      at += byte === backslash ? 2 : 1;
    }
    const found = bytes.indexOf(quote, at);
    if (found === -1 || found >= end) throw malformed("the end of a string", end);
    let escapes = 0;
    while (found - escapes > at && bytes[found - escapes - 1] === backslash) escapes += 1;
    at = found + 1;
    if (escapes % 2 === 0) return at;
  }
}

/** A string with more of them is JSON in JSON, or another text full of them: `TextSearch` does not stop at each. */
const mostEscapedQuotes = 16;
const textSearch = createLateTextSearch();

/** The rest of {@link skipString}: blocks grow with the string, so that little is copied for nothing. */
function skipEscaped(search: TextSearch, bytes: Buffer, start: number, end: number): number {
  let size = 1_024;
  for (let at = start; at < end; size = Math.min(2 * size, searchedBytes)) {
    const block = bytes.subarray(at, Math.min(end, at + size));
    search.load(block);
    const found = search.close(0, block.length);
    at += found;
    if (found < block.length) return at + 1;
  }
  throw malformed("the end of a string", end);
}

/** The index of the first byte from `start` on that is not white space, or `end`. */
export function skipSpace(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab) break;
    at += 1;
  }
  return at;
}

function keyText(bytes: Buffer, keyStart: number, keyEnd: number): string {
  const raw = bytes.toString("utf8", keyStart + 1, keyEnd - 1);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    throw malformed("a member name", keyStart);
  }
}

function malformed(expected: string, at: number): GatewayError {
  return new GatewayError("PARSE_ERROR", `the JSON is malformed: expected ${expected} at byte ${at}`);
}
