import { comma, lowerE, minus, nine, openBrace, openBracket, plus, point, quote, upperE, zero } from "./characters.ts";
import { skipSpace, skipString, skipValue } from "./json-scan.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * Texts (names of members are texts, too), objects and lists in one message. JSON.parse, which cannot be interrupted,
 * takes up to a microsecond for each: a message of four megabytes may hold a million, and would hold everybody up for
 * half a second. Numbers in a list are much cheaper.
 */
const mostParts = 100_000;
/** Digits of one number. JSON.parse takes a millisecond for 70,000 of them. */
const mostDigits = 65_536;

/** Throws BODY_TOO_COMPLEX for JSON with more in it than can be parsed in one turn, and BODY_TOO_DEEP before that. */
export function requireFewParts(bytes: Buffer, maxDepth: number): void {
  if (!hasManyParts(bytes)) return;
  skipValue(bytes, skipSpace(bytes, 0, bytes.length), bytes.length, maxDepth);
  throw new GatewayError(
    "BODY_TOO_COMPLEX",
    `the JSON has more than ${mostParts} texts, objects and lists, or more than ${mostParts * 10} elements, ` +
      `or a number of more than ${mostDigits} digits`,
  );
}

const isPlain = new Uint8Array(256).fill(1);
for (const byte of [quote, openBrace, openBracket, comma, point]) isPlain[byte] = 0;

/**
 * Whether it has more than `most` texts, objects and lists, ten times as many elements, or a very long number. Counts
 * without judging: the parser refuses invalid JSON. A megabyte of small members takes 2 ms.
 */
export function hasManyParts(bytes: Buffer, most = mostParts): boolean {
  if (bytes.length <= most) return false;
  const { length } = bytes;
  let parts = 0;
  let elements = 0;
  // Behind the last byte that is not plain: a number lies between two of these.
  let plainFrom = 0;
  try {
    for (let at = 0; at < length; at += 1) {
      while (at < length && isPlain[bytes[at] as number] === 1) at += 1;
      if (at - plainFrom > mostDigits && isLongNumber(bytes, plainFrom, at)) return true;
      const byte = bytes[at];
      if (byte === quote) {
        parts += 1;
        at = skipString(bytes, at + 1, length) - 1;
      } else if (byte === openBrace || byte === openBracket) parts += 1;
      else if (byte === comma) elements += 1;
      // A fraction takes the parser as long as six whole numbers.
      else if (byte === point) elements += 6;
      if (parts > most || elements > most * 10) return true;
      plainFrom = at + 1;
    }
  } catch {
    // A text without an end.
  }
  return false;
}

/**
 * About how many bytes of memory the parsed value takes, beside what its texts have in common with the bytes. Measured
 * with Node.js 20, where an empty object in a list takes 85.
 */
export function parsedBytes(bytes: Buffer): number {
  const { length } = bytes;
  let sum = 0;
  try {
    for (let at = 0; at < length; at += 1) {
      while (at < length && isPlain[bytes[at] as number] === 1) at += 1;
      const byte = bytes[at];
      if (byte === quote) {
        sum += 24;
        at = skipString(bytes, at + 1, length) - 1;
      } else if (byte === openBrace || byte === openBracket) sum += 80;
      else if (byte === comma) sum += 8;
    }
  } catch {
    // A text without an end, which the parser refuses.
  }
  return sum;
}

/** Whether there is a number of more than `mostDigits` signs. The bytes have no quotes and no commas among them. */
function isLongNumber(bytes: Buffer, start: number, end: number): boolean {
  const step = mostDigits >> 1;
  // Such a number lies over one of these places at least.
  for (let at = start + step; at < end; at += step) {
    if (!isOfNumber(bytes[at] as number)) continue;
    let [first, last] = [at, at];
    while (first > start && isOfNumber(bytes[first - 1] as number)) first -= 1;
    while (last + 1 < end && last - first < mostDigits && isOfNumber(bytes[last + 1] as number)) last += 1;
    if (last - first >= mostDigits) return true;
    at = last;
  }
  return false;
}

function isOfNumber(byte: number): boolean {
  return (byte >= zero && byte <= nine) || byte === lowerE || byte === upperE || byte === plus || byte === minus;
}
