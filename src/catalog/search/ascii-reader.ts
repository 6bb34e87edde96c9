import { isSeparator, wordLengthLimit } from "./words.ts";

/** Reads words without making strings of them. */
export interface AsciiReader {
  /** The letters of the word that was read last, in small letters, no more than are kept of one. */
  readonly letters: Uint8Array;
  /**
   * Calls `take` for every word of a text, as `eachAsciiWord` does and to the same result, but in one pass: each
   * character is looked up, put into `letters` and added to the word's sum.
   */
  read(text: string): "words" | "humps" | "other";
  /** Puts a word that is read already into `letters`. Its sum; undefined when it is not ASCII, or too long. */
  put(word: string): number | undefined;
}

/** `take` is given the length of the word in `letters`, and its sum, which words that differ hardly ever share. */
export function createAsciiReader(seed: number, take: (length: number, sum: number) => void): AsciiReader {
  const letters = new Uint8Array(wordLengthLimit);

  function read(text: string): "words" | "humps" | "other" {
    let before: number = kinds.other;
    let hasHump = false;
    let length = 0;
    let sum = seed;
    /** Without the last letter. */
    let sumBefore = seed;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 127 && !isSeparator(code)) return "other";
      const letter = code > 127 ? 0 : (smallLetters[code] as number);
      if (letter === 0) {
        if (length > 0) take(Math.min(length, wordLengthLimit), sum);
        length = 0;
        sum = seed;
        before = kinds.other;
        continue;
      }
      const kind = letter === code ? kinds.lower : kinds.upper;
      if (kind === kinds.upper && before === kinds.lower) {
        hasHump = true;
        take(Math.min(length, wordLengthLimit), sum);
        length = 0;
        sum = seed;
      } else if (kind === kinds.lower && before === kinds.upper && length > 1 && code > 57) {
        // The last capital begins the next word.
        const last = smallLetters[text.charCodeAt(at - 1)] as number;
        if (length > wordLengthLimit) take(wordLengthLimit, sum);
        else take(length - 1, sumBefore);
        letters[0] = last;
        length = 1;
        sum = added(seed, last);
      }
      if (length < wordLengthLimit) {
        letters[length] = letter;
        sumBefore = sum;
        sum = added(sum, letter);
      }
      length += 1;
      before = kind;
    }
    if (length > 0) take(Math.min(length, wordLengthLimit), sum);
    return hasHump ? "humps" : "words";
  }

  function put(word: string): number | undefined {
    if (word.length > wordLengthLimit) return undefined;
    let sum = seed;
    for (let at = 0; at < word.length; at += 1) {
      const code = word.charCodeAt(at);
      if (code > 127) return undefined;
      letters[at] = code;
      sum = added(sum, code);
    }
    return sum;
  }

  return { letters, read, put };
}

const kinds = Object.freeze({ other: 0, lower: 1, upper: 2 });

/** By code: the small letter or digit; 0 for what stands between words. */
const smallLetters = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9]/i.test(String.fromCharCode(code)) ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : 0,
);

/** The sum over a word with one letter more. */
function added(sum: number, letter: number): number {
  return Math.imul(sum ^ letter, 0x01000193);
}
