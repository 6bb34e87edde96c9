import { createKeyFinder } from "../../config/words/key-patterns.ts";
import { redacted, Spans } from "../../config/words/spans.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import type { KnownSecrets } from "../../records/redaction/known-secrets.ts";
import { backslash } from "../../wire/json/characters.ts";

/** A search for secrets in bytes on their way. */
export interface SecretSearch {
  readonly known: KnownSecrets;
  /** Whether texts count that look like a well-known key. */
  readonly hasShapes: boolean;
  /**
   * What a known secret is to the server that the bytes go to or come from: its own, or another's, by the name under
   * which people know it. Undefined for a value that counts as no secret.
   */
  readonly judge: (value: string) => SecretPlace | undefined;
}

export interface SecretPlace {
  readonly isOwn: boolean;
  readonly name: string;
}

/** What was found. */
export interface FoundSecrets {
  /** Names of secrets of others, at most a few. */
  readonly names: readonly string[];
  /** Whether something in it looks like a key, and is no known secret of the server. */
  readonly hasShape: boolean;
  /** The bytes with a mark in place of each secret of others; the same where there is none. */
  readonly clean: JsonBytes;
}

/** So much is looked through in one step, and at once in a turn of the event loop. */
export const windowBytes = 65_536;
/** Before a window: what tells whether a key, or an escape, began there. */
const leadBytes = 16;
/** A window goes on behind its end for as long as the longest secret, but not for longer than this. */
const mostBehind = 65_536;
/** Names that a message has. */
const mostNames = 3;

/**
 * Looks through JSON for secrets, in steps of 64 KB: a secret that begins in one window is seen whole, because each
 * goes on behind its end. Takes time in proportion to the bytes.
 */
export function* searchingSecrets(bytes: JsonBytes, search: SecretSearch): Generator<undefined, FoundSecrets> {
  const names = new Set<string>();
  const places = new Map<string, SecretPlace | undefined>();
  const behind = Math.min(mostBehind, search.known.longest * 3) + leadBytes;
  const chunks: Buffer[] = [];
  let pieces: Buffer[] = [];
  let copiedTo = 0;
  let ownTo = 0;
  let hasShape = false;

  const judge = (value: string): SecretPlace | undefined => {
    if (!places.has(value)) places.set(value, search.judge(value));
    return places.get(value);
  };
  const take = ({ start, end, value }: Hit): void => {
    const place = value === undefined ? undefined : judge(value);
    if (place?.isOwn === true) ownTo = Math.max(ownTo, end);
    // The server has it anyway, as a part of something of its own.
    else if (end <= ownTo) return;
    else if (value === undefined) hasShape = true;
    else if (place !== undefined) {
      if (names.size < mostNames) names.add(place.name);
      const [from, to] = withWholeEscapes(bytes, Math.max(start, copiedTo), Math.max(end, copiedTo));
      if (to <= copiedTo) return;
      pieces.push(bytes.subarray(copiedTo, Math.max(from, copiedTo)), markFor(bytes.subarray(from, to)));
      copiedTo = to;
    }
  };

  for (let from = 0; from < bytes.length;) {
    const next = boundary(bytes, from + windowBytes);
    const first = boundary(bytes, from - leadBytes);
    const text = bytes.toString("utf8", first, boundary(bytes, next + behind));
    const hits = hitsIn(text, search);
    let at = 0;
    let byte = first;
    for (const hit of hits) {
      byte += Buffer.byteLength(text.slice(at, hit.start));
      at = hit.start;
      if (byte >= from && byte < next)
        take({ ...hit, start: byte, end: byte + Buffer.byteLength(text.slice(hit.start, hit.end)) });
    }
    from = next;
    if (pieces.length > 0) chunks.push(Buffer.concat(pieces));
    pieces = [];
    yield;
  }
  const clean = chunks.length === 0 ? bytes : Buffer.concat([...chunks, bytes.subarray(copiedTo)]);
  return { names: [...names], hasShape, clean };
}

interface Hit {
  readonly start: number;
  readonly end: number;
  /** Undefined for what looks like a key. */
  readonly value: string | undefined;
}

const keys = createKeyFinder();
const none: readonly Hit[] = [];

/** In the order in which they begin; of those that begin alike, known values come first. */
function hitsIn(written: string, { known, hasShapes }: SecretSearch): readonly Hit[] {
  const { text, placeOf } = decoded(written);
  let hits: Hit[] | undefined;
  known.findWhole(text, (value, start, end) => {
    (hits ??= []).push({ start: placeOf(start), end: placeOf(end), value });
  });
  if (hasShapes) {
    const shapes = new Spans();
    keys.findShapes(text, shapes);
    for (const { start, end } of shapes.isEmpty ? none : shapes.merged())
      (hits ??= []).push({ start: placeOf(start), end: placeOf(end), value: undefined });
  }
  return hits === undefined ? none : hits.sort((one, other) => one.start - other.start || order(one) - order(other));
}

const order = ({ value }: Hit): number => (value === undefined ? 1 : 0);

/** A printable character of ASCII as an escape: some writers of JSON escape `&` and `<`, and any may escape others. */
const escapedAscii = /\\u00([2-7][0-9a-fA-F])/g;

/** The text with such characters as they mostly are, and where each of its characters is in what was written. */
function decoded(written: string): { readonly text: string; readonly placeOf: (at: number) => number } {
  if (!written.includes("\\u00")) return { text: written, placeOf: (at) => at };
  let text = "";
  let copied = 0;
  const ends: number[] = [];
  const shifts: number[] = [];
  for (const { 0: escape, 1: code = "", index } of written.matchAll(escapedAscii)) {
    if (isEscaped(written, index)) continue;
    const character = String.fromCharCode(Number.parseInt(code, 16));
    text += written.slice(copied, index) + (character === '"' || character === "\\" ? `\\${character}` : character);
    copied = index + escape.length;
    ends.push(text.length);
    shifts.push(copied - text.length);
  }
  text += written.slice(copied);
  return { text, placeOf: (at) => at + (shifts[lastUpTo(ends, at)] ?? 0) };
}

/** The index of the last number that is not above `limit`; -1 for none. */
function lastUpTo(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Whether the backslash here is itself escaped. */
function isEscaped(text: string, at: number): boolean {
  let before = 0;
  while (text.charCodeAt(at - before - 1) === backslash) before += 1;
  return before % 2 === 1;
}

/** The first byte of the character that this byte is of, within the bytes. */
function boundary(bytes: JsonBytes, at: number): number {
  let start = Math.max(0, Math.min(at, bytes.length));
  while (start < bytes.length && start > 0 && ((bytes[start] as number) & 0xc0) === 0x80) start -= 1;
  return start;
}

/** The span, widened so that it cuts no escape of JSON: the rest would not be JSON. */
function withWholeEscapes(bytes: JsonBytes, start: number, end: number): readonly [start: number, end: number] {
  const [first] = escapeAround(bytes, start) ?? [start];
  const [, last] = escapeAround(bytes, end) ?? [end, end];
  return [first, last];
}

/** The escape that has this place in its middle. */
function escapeAround(bytes: JsonBytes, at: number): readonly [start: number, end: number] | undefined {
  for (let start = at - 1; start >= Math.max(0, at - 5); start -= 1) {
    if (bytes[start] !== backslash || isByteEscaped(bytes, start)) continue;
    const end = start + (bytes[start + 1] === lowerU ? 6 : 2);
    return end > at ? [start, Math.min(end, bytes.length)] : undefined;
  }
  return undefined;
}

const lowerU = 0x75;

function isByteEscaped(bytes: JsonBytes, at: number): boolean {
  let before = 0;
  while (bytes[at - before - 1] === backslash) before += 1;
  return before % 2 === 1;
}

const mark = Buffer.from(redacted);
const oneDigit = 0x31;

/** A number may be no text: in its place are ones, which are a number as well. */
function markFor(found: Buffer): Buffer {
  return found.every((byte) => byte >= 0x2b && byte <= 0x39 && byte !== 0x2c && byte !== 0x2f)
    ? Buffer.from(found.map((byte) => (byte >= 0x30 ? oneDigit : byte)))
    : mark;
}
