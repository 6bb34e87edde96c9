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
import { skipSpace } from "./json-scan.ts";

/** How much is checked before other work gets its turn. It takes 0.1 to 2 ms. */
const sliceBytes = 524_288;
/** Text up to this size is checked in one go, because yielding has a cost as well. */
const firstSliceBytes = 3 * sliceBytes;

/**
 * Checks that the bytes, which must be UTF-8, are exactly one JSON value (RFC 8259), without building it. For values
 * that are too large to parse and are passed on as they are. Never recurses, and yields after each half megabyte.
 * Throws PARSE_ERROR, and BODY_TOO_DEEP beyond `maxDepth` levels.
 */
export function* checkJson(bytes: Buffer, maxDepth: number): Generator<void, void> {
  const end = bytes.length;
  let stop = firstSliceBytes;
  const skip = createStringSkipper(bytes);
  const isObject: boolean[] = [];
  let at = skipSpace(bytes, 0, end);
  for (;;) {
    if (at >= stop) {
      yield;
      stop = at + sliceBytes;
    }
    const first = bytes[at];
    if (first === openBrace || first === openBracket) {
      at = skipSpace(bytes, at + 1, end);
      if (bytes[at] !== (first === openBrace ? closeBrace : closeBracket)) {
        if (isObject.length >= maxDepth)
          throw new GatewayError("BODY_TOO_DEEP", `the JSON nests deeper than the limit allows, at byte ${at}`);
        isObject.push(first === openBrace);
        if (first === openBrace) at = skipName(bytes, at, end, skip);
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
      at = skipSpace(bytes, at, end);
      const within = isObject.at(-1);
      if (within === undefined) {
        if (at < end) throw malformed("the end", at);
        return;
      }
      const byte = bytes[at];
      if (byte === comma) {
        at = skipSpace(bytes, at + 1, end);
        if (within) at = skipName(bytes, at, end, skip);
        break;
      }
      if (byte !== (within ? closeBrace : closeBracket)) throw malformed("a comma or a closing bracket", at);
      isObject.pop();
      at += 1;
    }
  }
}

/** Skips a member's name and its colon; returns where its value begins. */
function skipName(bytes: Buffer, at: number, end: number, skip: StringSkipper): number {
  if (bytes[at] !== quote) throw malformed("a member name", at);
  const behind = skipSpace(bytes, skip(at + 1, Number.POSITIVE_INFINITY), end);
  if (bytes[behind] !== colon) throw malformed("a colon", behind);
  return skipSpace(bytes, behind + 1, end);
}

/**
 * In words of four bytes. The end of a string longer than this is searched for natively; for shorter strings a loop
 * is faster.
 */
const patienceWords = 16;
const blockWords = sliceBytes / 4;
/** The first block is short: it shows what kind of text it is. */
const firstBlockWords = 1_024;
/** When escapes are closer together than this, a native search for each costs more than checking every word. */
const sparseWords = 64;

/**
 * Returns the index after the closing quote of the string that contains `at`. When it reaches `limit` first, it
 * returns the complement (`~`) of an index that is still within the string.
 */
type StringSkipper = (at: number, limit: number) => number;

/**
 * Large results are mostly text. In blocks with few escapes and without control characters, long strings are skipped
 * natively; in other blocks four bytes are checked at a time.
 */
function createStringSkipper(bytes: Buffer): StringSkipper {
  const shift = -bytes.byteOffset & 3;
  const wordCount = Math.max(0, bytes.length - shift) >> 2;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + shift, wordCount);
  const wordsEnd = shift + (wordCount << 2);
  let blockStart = 0;
  let blockEnd = 0;
  let isClean = false;
  /** Seen in the current block. */
  let escapes = 0;
  // Where the next quote and backslash are. Kept between calls, because a string may have any number of either.
  let quoteAt = -1;
  let backslashAt = -1;

  function leap(at: number): number {
    if (quoteAt < at) quoteAt = placeOf(bytes, quote, at);
    if (backslashAt < at) backslashAt = placeOf(bytes, backslash, at);
    return Math.min(quoteAt, backslashAt, wordsEnd, (blockEnd << 2) + shift);
  }

  return (start, limit) => {
    let at = start;
    for (;;) {
      if (at >= limit) return ~at;
      if (((at - shift) & 3) === 0) {
        let word = (at - shift) >> 2;
        if (word >= blockEnd && word < wordCount) {
          const isSparse = escapes * sparseWords < blockEnd - blockStart;
          const length = blockEnd === 0 ? firstBlockWords : blockWords;
          blockStart = word;
          blockEnd = Math.min(wordCount, word + length);
          escapes = 0;
          isClean = isSparse && !mayHoldControls(words, word, blockEnd);
        }
        const patience = isClean ? Math.min(blockEnd, word + patienceWords) : blockEnd;
        while (word < patience && isPlain(words[word] as number)) word += 1;
        at = (word << 2) + shift;
        if (word === patience && word < blockEnd) at = leap(at);
        if (word === blockEnd && word < wordCount) continue;
      }
      const byte = bytes[at];
      if (byte === quote) return at + 1;
      if (byte === undefined || byte < space) throw malformed("the rest of a string", at);
      if (byte === backslash) {
        escapes += 1;
        at = skipEscape(bytes, at + 1);
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
function mayHoldControls(words: Int32Array, start: number, end: number): boolean {
  const last = end - 7;
  let at = start;
  for (; at < last; at += 8) {
    const found =
      belowSpace(words[at] as number) |
      belowSpace(words[at + 1] as number) |
      belowSpace(words[at + 2] as number) |
      belowSpace(words[at + 3] as number) |
      belowSpace(words[at + 4] as number) |
      belowSpace(words[at + 5] as number) |
      belowSpace(words[at + 6] as number) |
      belowSpace(words[at + 7] as number);
    if ((found & 0x80808080) !== 0) return true;
  }
  for (; at < end; at += 1) if ((belowSpace(words[at] as number) & 0x80808080) !== 0) return true;
  return false;
}

function belowSpace(word: number): number {
  return (word - 0x20202020) & ~word;
}

/**
 * Whether none of the four bytes is a quote, a backslash or a control character. It may be false for plain bytes, but
 * is never true for others.
 */
function isPlain(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found = belowSpace(word) | ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return (found & 0x80808080) === 0;
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
