import { backslash, lineFeed, lowerN, lowerR, lowerT, lowerU, nine, tab } from "../../wire/json/characters.ts";

/** Escapes in JSON strings (RFC 8259, 7), of which is known that they are valid. */

/** The length of the escape that begins at a backslash. Two that write one character are one. */
export function escapeLength(bytes: Buffer, at: number): number {
  if (bytes[at + 1] !== lowerU) return 2;
  const isPair = (hexAt(bytes, at + 2) & 0xfc00) === 0xd800 && bytes[at + 6] === backslash && bytes[at + 7] === lowerU;
  return isPair && (hexAt(bytes, at + 8) & 0xfc00) === 0xdc00 ? 12 : 6;
}

/** The number of four hexadecimal digits. */
export function hexAt(bytes: Buffer, start: number): number {
  let code = 0;
  for (let at = start; at < start + 4; at += 1) {
    const digit = bytes[at] as number;
    code = code * 16 + (digit & 15) + (digit > nine ? 9 : 0);
  }
  return code;
}

/** The character that a backslash and this letter write. */
export function shortEscape(letter: number): number {
  switch (letter) {
    case lowerN:
      return lineFeed;
    case lowerR:
      return 0x0d;
    case lowerT:
      return tab;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    default:
      return letter;
  }
}
