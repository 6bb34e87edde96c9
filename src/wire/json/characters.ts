/**
 * Characters of JSON and of the lines around it, as bytes: all of them are ASCII, so that no part of a UTF-8 sequence
 * can be one.
 */
export const tab = 0x09;
export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
/** Everything below it is a control character. */
export const space = 0x20;
export const quote = 0x22;
export const plus = 0x2b;
export const comma = 0x2c;
export const minus = 0x2d;
export const point = 0x2e;
export const zero = 0x30;
export const one = 0x31;
export const nine = 0x39;
export const colon = 0x3a;
export const upperE = 0x45;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const lowerA = 0x61;
export const lowerE = 0x65;
export const lowerF = 0x66;
export const lowerN = 0x6e;
export const lowerT = 0x74;
export const lowerU = 0x75;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** What a letter's small and capital form differ in. */
export const caseBit = 0x20;

/** The byte order mark of UTF-8: no JSON begins with it, but readers that decode bytes first never see it. */
export function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
