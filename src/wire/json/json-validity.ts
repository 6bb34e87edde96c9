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
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { deepestNoted, type JsonOutline } from "./json-outline.ts";
import { skipSpace } from "./json-scan.ts";
import { searchedBytes, shortEscapes, type TextSearch } from "./text-search.ts";

/** How much is checked before other work gets its turn. It takes 0.1 to 2 ms. */
const sliceBytes = 524_288;
/** Text up to this size is checked in one go, because yielding has a cost as well. */
const firstSliceBytes = 3 * sliceBytes;

export interface JsonCheckOptions {
  /** Where things are is noted here. Must be of the same bytes, and says nothing before the last yield. */
  readonly outline?: JsonOutline | undefined;
  /** Takes over in long strings. Without it the same is found, more slowly. */
  readonly search?: TextSearch | undefined;
}

/**
 * Checks that the bytes, which must be UTF-8, are exactly one JSON value (RFC 8259), without building it. For values
 * that are too large to parse and are passed on as they are. Never recurses, and yields after each half megabyte.
 * Throws PARSE_ERROR, and BODY_TOO_DEEP beyond `maxDepth` levels.
 */
export function* checkJson(
  bytes: Buffer,
  maxDepth: number,
  { outline, search }: JsonCheckOptions = {},
): Generator<void, void> {
  const end = bytes.length;
  const noted = outline === undefined ? 0 : deepestNoted;
  let stop = firstSliceBytes;
  const skip = createStringSkipper(bytes, search);
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

/** From here on a string is searched by `TextSearch`; for shorter ones copying costs more. */
const patienceBytes = 64;

/**
 * Returns the index after the closing quote of the string that contains `at`. When it reaches `limit` first, it
 * returns the complement (`~`) of an index that is still within the string.
 */
type StringSkipper = (at: number, limit: number) => number;

/**
 * Large results are mostly text. Four bytes are checked at a time, wherever they begin, because escapes stand
 * anywhere; a long string is searched sixteen at a time, where that can be done.
 */
function createStringSkipper(bytes: Buffer, search: TextSearch | undefined): StringSkipper {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  /** Where no whole word begins any more. */
  const wordsEnd = bytes.length - 3;
  /** The bytes that the search has, and what they are called there. */
  let loadStart = 0;
  let loadEnd = 0;
  let load = 0;

  /** The next index that has to be looked at here, or one before it: no search runs far. */
  function leap(by: TextSearch, at: number): number {
    if (at >= loadEnd || !by.holds(load)) {
      loadStart = at;
      loadEnd = Math.min(bytes.length, at + searchedBytes);
      load = by.load(bytes.subarray(loadStart, loadEnd));
    }
    return loadStart + by.find(at - loadStart, loadEnd - loadStart);
  }

  return (start, limit) => {
    // Closure variables that every word needs are read once, not each time.
    const [all, source] = [view, bytes];
    const patience = Math.min(wordsEnd, limit, search === undefined ? limit : start + patienceBytes);
    let at = start;
    for (;;) {
      if (at >= limit) return ~at;
      let found = 0;
      while (at < patience && (found = specialIn(all.getInt32(at, true))) === 0) at += 4;
      if (found !== 0) at += firstOf(found);
      else if (search !== undefined && at < bytes.length) {
        at = leap(search, at);
        if (at === loadEnd && at < bytes.length) continue;
      } else if (at >= limit) continue;
      const byte = source[at];
      if (byte === quote) return at + 1;
      if (byte === undefined || byte < space) throw malformed("the rest of a string", at);
      if (byte === backslash) at = shortEscapes[source[at + 1] ?? 0] === 1 ? at + 2 : skipEscape(source, at + 1);
      else at += 1;
    }
  };
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
    if (shortEscapes[byte] !== 1) throw malformed("an escape", at);
    return at + 1;
  }
  for (let digit = at + 1; digit <= at + 4; digit += 1)
    if (!isHexDigit(bytes[digit] ?? 0)) throw malformed("four hexadecimal digits", digit);
  return at + 5;
}

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
