import {
  backslash,
  lowerU,
  openBrace,
  openBracket,
  quote,
  space,
  lineFeed,
  lowerN,
  lowerR,
  lowerT,
  nine,
  tab,
} from "../../wire/json/characters.ts";
import type { Span } from "../../wire/json/json-scan.ts";
import type { Spelling } from "./element-lines.ts";

/** Text in the bytes of a result. */
export interface SpelledText extends Span {
  readonly spelling: Spelling;
}

/** How much is compared before others may have their turn. */
const sliceCharacters = 32_768;
/** Added to a character of a string that would mean something in JSON if it were not written as an escape. */
const escaped = 0x10_0000;
const atEnd = -1;

/** Whether two texts say the same, however their characters are spelled. Linear. */
export function* isSameText(bytes: Buffer, one: SpelledText, other: SpelledText): Generator<void, boolean> {
  const [left, right] = [new Reader(bytes, one), new Reader(bytes, other)];
  return yield* areEqual(
    () => left.next(),
    () => right.next(),
  );
}

/**
 * Whether two texts are the same JSON object or array, but for white space between values and the spelling of
 * characters. The order of members and the spelling of numbers count. Linear, whatever the texts are.
 */
export function* isSameJson(bytes: Buffer, one: SpelledText, other: SpelledText): Generator<void, boolean> {
  const [left, right] = [new Reader(bytes, one), new Reader(bytes, other)];
  const first = left.nextOfJson();
  if ((first !== openBrace && first !== openBracket) || right.nextOfJson() !== first) return false;
  return yield* areEqual(
    () => left.nextOfJson(),
    () => right.nextOfJson(),
  );
}

function* areEqual(nextLeft: () => number, nextRight: () => number): Generator<void, boolean> {
  for (;;) {
    for (let count = 0; count < sliceCharacters; count += 1) {
      const code = nextLeft();
      if (code !== nextRight()) return false;
      if (code === atEnd) return true;
    }
    yield;
  }
}

/** Reads a text by the code units of UTF-16. */
class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #isEscaped: boolean;
  #at: number;
  /** The second of two units that are one character of UTF-8. */
  #second = atEnd;
  #isInString = false;

  constructor(bytes: Buffer, { start, end, spelling }: SpelledText) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#isEscaped = spelling === "escaped";
  }

  /** -1 at the end. */
  next(): number {
    if (this.#second !== atEnd) {
      const second = this.#second;
      this.#second = atEnd;
      return second;
    }
    if (this.#at >= this.#end) return atEnd;
    const code = this.#bytes[this.#at] as number;
    if (code >= 0x80) return this.#wide(code);
    if (code !== backslash || !this.#isEscaped) {
      this.#at += 1;
      return code;
    }
    const letter = this.#bytes[this.#at + 1] as number;
    this.#at += letter === lowerU ? 6 : 2;
    return letter === lowerU ? hexAt(this.#bytes, this.#at - 4) : shortEscape(letter);
  }

  /** A character of UTF-8 (RFC 3629), which is known to be valid. */
  #wide(lead: number): number {
    const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    let point = lead & (0x7f >> length);
    for (let index = 1; index < length; index += 1)
      point = (point << 6) | ((this.#bytes[this.#at + index] as number) & 0x3f);
    this.#at += length;
    if (point < 0x1_0000) return point;
    this.#second = 0xdc00 | (point & 0x3ff);
    return 0xd7c0 + (point >> 10);
  }

  /** The same without white space between values, and with the escapes of strings decoded. */
  nextOfJson(): number {
    let code = this.next();
    if (!this.#isInString) {
      while (code === space || (code >= 0x09 && code <= 0x0d)) code = this.next();
      this.#isInString = code === quote;
      return code;
    }
    if (code === quote) this.#isInString = false;
    if (code !== backslash) return code;
    const letter = this.next();
    const meant = letter === lowerU ? this.#hex() : shortEscape(letter);
    return meant < space || meant === quote || meant === backslash ? meant + escaped : meant;
  }

  #hex(): number {
    let code = 0;
    for (let digits = 0; digits < 4; digits += 1) {
      const digit = this.next();
      code = code * 16 + (digit & 15) + (digit > 0x39 ? 9 : 0);
    }
    return code;
  }
}

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
