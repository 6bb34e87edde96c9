import { isSeparator, wordLengthLimit } from "./words.ts";

/** Reads words without making strings of them. */
export interface AsciiReader {
  /** The letters of the word that was read last, in small letters, no more than are kept of one: four in a number. */
  readonly letters: Int32Array;
  /**
   * Calls `take` for every word of a text, as `eachAsciiWord` does and to the same result, but in one pass: each
   * character is looked up once and put into `letters`.
   */
  read(text: string): "words" | "humps" | "other";
  /** Puts a word that is read already into `letters`, unless it is not ASCII, or too long; says whether it did. */
  put(word: string): boolean;
}

/** `take` is given the length of the word in `letters`. */
export function createAsciiReader(take: (length: number) => void): AsciiReader {
  const letters = new Int32Array(Math.ceil(wordLengthLimit / 4));

  /** The last number of a word has less than four letters, and is put where it belongs when the word ends. */
  function end(length: number, last: number): void {
    const kept = length < wordLengthLimit ? length : wordLengthLimit;
    if ((kept & 3) !== 0) letters[kept >> 2] = last;
    take(kept);
  }

  /** Ends a word in front of its last letter, which begins the next one. */
  function endBefore(length: number, last: number): void {
    if (length > wordLengthLimit) end(length, 0);
    else end(length - 1, ((length & 3) === 0 ? (letters[(length >> 2) - 1] as number) : last) >>> 8);
  }

  function read(text: string): "words" | "humps" | "other" {
    const size = text.length;
    let hasHump = false;
    for (let at = 0; at < size; at += 1) {
      let code = text.charCodeAt(at);
      let letter = letterOf(code);
      if (letter === none) continue;
      if (letter === unknown) return "other";
      // The first of a word; a loop of its own reads the others, which is faster than asking for the position of each.
      let last = letter;
      let length = 1;
      let isCapital = letter !== code;
      for (at += 1; at < size; at += 1) {
        code = text.charCodeAt(at);
        letter = letterOf(code);
        if (letter === none) break;
        if (letter === unknown) return "other";
        if ((letter !== code) !== isCapital) {
          isCapital = !isCapital;
          if (isCapital) {
            hasHump = true;
            end(length, last);
            length = 0;
            last = 0;
          } else if (length > 1 && code > 57) {
            endBefore(length, last);
            last = letterOf(text.charCodeAt(at - 1));
            length = 1;
          }
        }
        if (length < wordLengthLimit) {
          last = (last << 8) | letter;
          if ((length & 3) === 3) {
            letters[length >> 2] = last;
            last = 0;
          }
        }
        length += 1;
      }
      end(length, last);
    }
    return hasHump ? "humps" : "words";
  }

  function put(word: string): boolean {
    if (word.length === 0 || word.length > wordLengthLimit) return false;
    let last = 0;
    for (let at = 0; at < word.length; at += 1) {
      const code = word.charCodeAt(at);
      if (code > 127) return false;
      last = (last << 8) | code;
      letters[at >> 2] = last;
      if ((at & 3) === 3) last = 0;
    }
    return true;
  }

  return { letters, read, put };
}

/** The word of so many letters. */
export function toText(letters: Int32Array, length: number): string {
  let text = "";
  for (let at = 0; at < length; at += 1) {
    const inLast = (length & 3) !== 0 && at >> 2 === length >> 2;
    const shift = 8 * ((inLast ? (length & 3) - 1 : 3) - (at & 3));
    text += String.fromCharCode(((letters[at >> 2] as number) >> shift) & 127);
  }
  return text;
}

/** Separates words. */
const none = 0;
/** Is no ASCII, and more than a gap. */
const unknown = 255;

/** By code: the small letter or digit. */
const smallLetters = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9]/i.test(String.fromCharCode(code)) ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : none,
);

function letterOf(code: number): number {
  if (code < 128) return smallLetters[code] as number;
  return isSeparator(code) ? none : unknown;
}
