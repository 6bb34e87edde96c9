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
import { GatewayError } from "../../kernel/gateway-error.ts";

/**
 * Finds where values stand in a JSON text without building them, so that they can be cut out and passed on as bytes.
 *
 * It does not validate the grammar between values: what must be valid JSON is also given to JSON.parse beside it. It
 * never recurses, is linear, and refuses nesting beyond a limit before anything else sees the text (JSON.parse
 * accepts a million levels, JSON.stringify throws at some thousands).
 */

/** One member of an object: its key, and the bytes [start, end) of its value. */
export class Member {
  readonly #bytes: Buffer;
  /** Where the member begins, its key's quote included: for taking the whole member out. */
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

  /** Whether this is the key, which must be ASCII. */
  is(key: string): boolean {
    return isKey(this.#bytes, this.keyStart, this.#keyEnd, key);
  }
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Strings longer than this are searched for their end natively; shorter ones are faster in a plain loop. */
const nativeSearchFrom = 48;

/**
 * The members of the object that begins at `start` (white space before it is allowed), in order, duplicates included.
 * Throws PARSE_ERROR when there is no such object within [start, end), BODY_TOO_DEEP beyond `maxDepth` levels below it.
 */
export function scanMembers(bytes: Buffer, start: number, end: number, maxDepth: number): Member[] {
  const found = new Found();
  walk(bytes, start, end, maxDepth, found, undefined, undefined);
  return found.members;
}

/**
 * {@link scanMembers} for an object and for the last of its members of one name (which must be ASCII), in one pass.
 * `inner` is undefined when there is none of that name, or it is no object.
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
 * The last member of that name (which must be ASCII) of the object that begins at `start`, without making any of the
 * others. Throws as {@link scanMembers} does.
 */
export function scanFor(bytes: Buffer, start: number, end: number, maxDepth: number, key: string): Member | undefined {
  const found = new Found();
  walk(bytes, start, end, maxDepth, found, key, undefined);
  return found.members[0];
}

class Found {
  members: Member[] = [];
  inner: Member[] | undefined;
}

/**
 * Returns the end of the object. `only`: the last member of that name is all that is kept. `nested`: that one's
 * members too.
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
    if (only === undefined) found.members.push(new Member(bytes, keyStart, keyEnd, valueStart, valueEnd));
    else if (isKey(bytes, keyStart, keyEnd, only))
      found.members[0] = new Member(bytes, keyStart, keyEnd, valueStart, valueEnd);
    at = skipSpace(bytes, valueEnd, end);
    if (bytes[at] === closeBrace) return at + 1;
    if (bytes[at] !== comma) throw malformed("a comma or the end of the object", at);
    at = skipSpace(bytes, at + 1, end);
  }
}

/** Compared where it stands, because most members are only passed by. `key` must be ASCII. */
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
 * The elements of the array that begins at `start`, in order, at most `limit` + 1 of them (so that a caller sees the
 * excess).
 */
export function scanElements(bytes: Buffer, start: number, end: number, maxDepth: number, limit: number): Span[] {
  const elements: Span[] = [];
  let at = skipSpace(bytes, start, end);
  if (bytes[at] !== openBracket) throw malformed("an array", at);
  at = skipSpace(bytes, at + 1, end);
  if (bytes[at] === closeBracket) return elements;
  while (elements.length <= limit) {
    const valueEnd = skipValue(bytes, at, end, maxDepth);
    elements.push({ start: at, end: valueEnd });
    at = skipSpace(bytes, valueEnd, end);
    if (bytes[at] === closeBracket) return elements;
    if (bytes[at] !== comma) throw malformed("a comma or the end of the array", at);
    at = skipSpace(bytes, at + 1, end);
  }
  return elements;
}

/**
 * The last member of that name, which must be ASCII (JSON.parse keeps the last of duplicates too, so checks and
 * forwarded bytes agree).
 */
export function findMember(members: readonly Member[], key: string): Member | undefined {
  for (let index = members.length - 1; index >= 0; index -= 1) {
    const member = members[index];
    if (member?.is(key) === true) return member;
  }
  return undefined;
}

/** The end of the value that begins at `start`. Throws as {@link scanMembers} does. */
export function skipValue(bytes: Buffer, start: number, end: number, maxDepth: number): number {
  const first = bytes[start];
  if (first === quote) return skipString(bytes, start + 1, end);
  if (first !== openBrace && first !== openBracket) return skipScalar(bytes, start, end);
  let depth = 0;
  let at = start;
  while (at < end) {
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

/** `start` is behind the opening quote; returns the place behind the closing one. */
function skipString(bytes: Buffer, start: number, end: number): number {
  let at = start;
  const patience = Math.min(end, start + nativeSearchFrom);
  while (at < patience) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    at += byte === backslash ? 2 : 1;
  }
  for (;;) {
    const found = bytes.indexOf(quote, at);
    if (found === -1 || found >= end) throw malformed("the end of a string", end);
    let escapes = 0;
    while (found - escapes > at && bytes[found - escapes - 1] === backslash) escapes += 1;
    at = found + 1;
    if (escapes % 2 === 0) return at;
  }
}

/** The first place from `start` on that is no white space, or `end`. */
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
