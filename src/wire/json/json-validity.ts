import {
  backslash,
  caseBit,
  closeBrace,
  closeBracket,
  colon,
  comma,
  lowerA,
  lowerE,
  lowerF,
  lowerN,
  lowerT,
  lowerU,
  minus,
  nine,
  openBrace,
  openBracket,
  plus,
  point,
  quote,
  space,
  upperE,
  zero,
} from "./characters.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { deepestNoted, type JsonOutline } from "./json-outline.ts";
import { skipSpace } from "./json-scan.ts";

/** How much is checked before other work gets its turn. It takes 0.1 to 2 ms. */
const sliceBytes = 524_288;
/** Text up to this size is checked in one go, because yielding has a cost as well. */
const firstSliceBytes = 3 * sliceBytes;

/**
 * Checks that the bytes, which must be UTF-8, are exactly one JSON value (RFC 8259), without building it. For values
 * that are too large to parse and are passed on as they are. Never recurses, and yields after each half megabyte.
 * Throws PARSE_ERROR, and BODY_TOO_DEEP beyond `maxDepth` levels. Where things are is noted in `outline`, which must be
 * of the same bytes, and says nothing before the last yield.
 */
export function* checkJson(bytes: Buffer, maxDepth: number, outline?: JsonOutline): Generator<void, void> {
  const end = bytes.length;
  const noted = outline === undefined ? 0 : deepestNoted;
  let stop = firstSliceBytes;
  const skip = createStringSkipper(bytes);
  const isObject: boolean[] = [];

  /** Skips a member's name and its colon; returns where its value begins. */
  function readName(keyStart: number): number {
    if (bytes[keyStart] !== quote) throw malformed("a member name", keyStart);
    const keyEnd = skip(keyStart + 1, Number.POSITIVE_INFINITY);
    const behind = skipSpace(bytes, keyEnd, end);
    if (bytes[behind] !== colon) throw malformed("a colon", behind);
    const start = skipSpace(bytes, behind + 1, end);
    if (isObject.length <= noted) outline?.name(isObject.length, keyStart, keyEnd, start);
    return start;
  }

  let at = skipSpace(bytes, 0, end);
  for (;;) {
    if (at >= stop) {
      yield;
      stop = at + sliceBytes;
    }
    const first = bytes[at];
    if (isObject.length <= noted) outline?.begin(isObject.length, at);
    if (first === openBrace || first === openBracket) {
      at = skipSpace(bytes, at + 1, end);
      if (bytes[at] !== (first === openBrace ? closeBrace : closeBracket)) {
        if (isObject.length >= maxDepth)
          throw new GatewayError("BODY_TOO_DEEP", `the JSON nests deeper than the limit allows, at byte ${at}`);
        isObject.push(first === openBrace);
        if (first === openBrace) at = readName(at);
        continue;
      }
      at += 1;
    } else if (first === quote) {
      at = skip(at + 1, stop);
      while (at < 0) {
        yield;
        stop = ~at + sliceBytes;
        at = skip(~at, stop);
      }
    } else at = skipScalar(bytes, at);
    for (;;) {
      const within = isObject.at(-1);
      if (within !== undefined && isObject.length <= noted) outline?.end(isObject.length, at);
      at = skipSpace(bytes, at, end);
      if (within === undefined) {
        if (at < end) throw malformed("the end", at);
        return;
      }
      const byte = bytes[at];
      if (byte === comma) {
        at = skipSpace(bytes, at + 1, end);
        if (within) at = readName(at);
        break;
      }
      if (byte !== (within ? closeBrace : closeBracket)) throw malformed("a comma or a closing bracket", at);
      isObject.pop();
      at += 1;
    }
  }
}

/** The end of a string longer than this is searched for natively; for shorter strings a loop is faster. */
const patienceBytes = 64;
/** The first block is short: it shows what kind of text it is. */
const firstBlockBytes = 4_096;
/** When escapes are closer together than this, a native search for each costs more than checking every word. */
const sparseBytes = 256;

/**
 * Returns the index after the closing quote of the string that contains `at`. When it reaches `limit` first, it
 * returns the complement (`~`) of an index that is still within the string.
 */
type StringSkipper = (at: number, limit: number) => number;

/**
 * Large results are mostly text. In blocks with few escapes and without control characters, long strings are skipped
 * natively; in other blocks four bytes are checked at a time, wherever they begin, because escapes stand anywhere.
 */
function createStringSkipper(bytes: Buffer): StringSkipper {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  /** Where no whole word begins any more. */
  const wordsEnd = bytes.length - 3;
  let blockStart = 0;
  let blockEnd = 0;
  let isClean = false;
  /** Seen in the current block. */
  let escapes = 0;
  // Where the next quote and backslash are. Kept between calls, because a string may have any number of either.
  let quoteAt = -1;
  let backslashAt = -1;

  function openBlock(at: number): void {
    const isSparse = escapes * sparseBytes < blockEnd - blockStart;
    const length = blockEnd === 0 ? firstBlockBytes : sliceBytes;
    blockStart = at;
    blockEnd = Math.min(bytes.length, at + length);
    escapes = 0;
    isClean = isSparse && !mayHoldControls(view, at, blockEnd);
  }

  function leap(at: number): number {
    if (quoteAt < at) quoteAt = placeOf(bytes, quote, at);
    if (backslashAt < at) backslashAt = placeOf(bytes, backslash, at);
    return Math.min(quoteAt, backslashAt, blockEnd);
  }

  return (start, limit) => {
    // What is used for every word is read from where closures keep it once, not each time.
    const [all, source] = [view, bytes];
    let at = start;
    for (;;) {
      if (at >= limit) return ~at;
      if (at >= blockEnd) openBlock(at);
      const patience = Math.min(wordsEnd, blockEnd, isClean ? at + patienceBytes : blockEnd);
      let found = 0;
      while (at < patience && (found = specialIn(all.getInt32(at, true))) === 0) at += 4;
      if (found !== 0) at += firstOf(found);
      else {
        if (isClean && at < blockEnd) at = leap(at);
        if (at >= blockEnd && at < bytes.length) continue;
      }
      const byte = source[at];
      if (byte === quote) return at + 1;
      if (byte === undefined || byte < space) throw malformed("the rest of a string", at);
      if (byte === backslash) {
        escapes += 1;
        at = simpleEscapes[source[at + 1] ?? 0] === 1 ? at + 2 : skipEscape(source, at + 1);
      } else at += 1;
    }
  };
}

/**
 * The index of the next such byte. When there is none nearby, it is an index before it, so that a search never runs
 * far.
 */
function placeOf(bytes: Buffer, byte: number, from: number): number {
  const isFar = bytes.length - from > 2 * sliceBytes;
  const found = isFar ? bytes.subarray(from, from + sliceBytes).indexOf(byte) : bytes.indexOf(byte, from);
  if (isFar) return from + (found === -1 ? sliceBytes : found);
  return found === -1 ? bytes.length : found;
}

/** Whether any byte is below a space. Checks eight words at a time, at a tenth of a millisecond per megabyte. */
function mayHoldControls(view: DataView, start: number, end: number): boolean {
  let at = start;
  for (; at + 32 <= end; at += 32) {
    const found =
      belowSpace(view.getInt32(at, true)) |
      belowSpace(view.getInt32(at + 4, true)) |
      belowSpace(view.getInt32(at + 8, true)) |
      belowSpace(view.getInt32(at + 12, true)) |
      belowSpace(view.getInt32(at + 16, true)) |
      belowSpace(view.getInt32(at + 20, true)) |
      belowSpace(view.getInt32(at + 24, true)) |
      belowSpace(view.getInt32(at + 28, true));
    if ((found & highBits) !== 0) return true;
  }
  for (; at < end; at += 1) if (view.getUint8(at) < space) return true;
  return false;
}

const highBits = 0x80808080;

function belowSpace(word: number): number {
  return (word - 0x20202020) & ~word;
}

/**
 * The high bits of those of the four bytes that are a quote, a backslash or a control character; 0 when there is none.
 * The lowest bit is exact; higher ones may also be set for the bytes that follow.
 */
function specialIn(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found = belowSpace(word) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return found & highBits;
}

/** Which of four bytes, read with the first one lowest, is the first whose high bit is set. */
function firstOf(found: number): number {
  return (31 - Math.clz32(found & -found)) >> 3;
}

/** `at` is after the backslash; returns the index after the escape sequence. */
function skipEscape(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0;
  if (byte !== lowerU) {
    if (simpleEscapes[byte] !== 1) throw malformed("an escape", at);
    return at + 1;
  }
  for (let digit = at + 1; digit <= at + 4; digit += 1)
    if (!isHexDigit(bytes[digit] ?? 0)) throw malformed("four hexadecimal digits", digit);
  return at + 5;
}

/** By byte: asked for every escape, which a set would answer ten times as slowly. */
const simpleEscapes: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number('"\\/bfnrt'.includes(String.fromCharCode(byte))),
);

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || ((byte | caseBit) >= lowerA && (byte | caseBit) <= lowerF);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}

function skipScalar(bytes: Buffer, start: number): number {
  switch (bytes[start]) {
    case lowerT:
      return skipWord(bytes, start, "true");
    case lowerF:
      return skipWord(bytes, start, "false");
    case lowerN:
      return skipWord(bytes, start, "null");
    default:
      return skipNumber(bytes, start);
  }
}

function skipWord(bytes: Buffer, start: number, word: string): number {
  for (let index = 1; index < word.length; index += 1)
    if (bytes[start + index] !== word.charCodeAt(index)) throw malformed("a value", start);
  return start + word.length;
}

function skipNumber(bytes: Buffer, start: number): number {
  const whole = bytes[start] === minus ? start + 1 : start;
  let at = bytes[whole] === zero ? whole + 1 : skipDigits(bytes, whole);
  if (bytes[at] === point) at = skipDigits(bytes, at + 1);
  const mark = bytes[at];
  if (mark !== lowerE && mark !== upperE) return at;
  const sign = bytes[at + 1];
  return skipDigits(bytes, sign === plus || sign === minus ? at + 2 : at + 1);
}

/** Skips one or more digits. */
function skipDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at += 1;
  if (at === start) throw malformed("a value", start);
  return at;
}

function malformed(expected: string, at: number): GatewayError {
  return new GatewayError("PARSE_ERROR", `the JSON is malformed: expected ${expected} at byte ${at}`);
}
