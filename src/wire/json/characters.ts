/**
 * The characters of JSON and of line endings, as bytes. All are ASCII, so none of them can occur inside a UTF-8
 * sequence.
 */
export const tab = 0x09;
export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
/** Every byte below it is a control character. */
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
export const lowerR = 0x72;
export const lowerT = 0x74;
export const lowerU = 0x75;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** The bit in which the lower and upper case of an ASCII letter differ. */
export const caseBit = 0x20;

/**
 * Whether the bytes begin with the byte order mark of UTF-8. JSON must not begin with it, but decoders remove it
 * silently.
 */
export function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
