import { createAsciiReader, toText } from "./ascii-reader.ts";
import { absent, createWordSlots } from "./word-slots.ts";
import { proseBrands, toProseWords, wordLengthLimit } from "./words.ts";

/**
 * Numbers of stems, found by the characters of a text: an index reads a hundred words per tool, nearly all of which it
 * has met before, and a word that is known costs neither a string nor a look-up by one. Numbers are valid until
 * {@link StemTable.trim} forgets them.
 */
export interface StemTable {
  /** Appends the stems of a text without stopwords, as `Language.telling` has them. */
  telling(text: string, list: StemList): void;
  /** Appends the stem of one lower-case word, stopword or not. */
  word(word: string, list: StemList): void;
  /**
   * Stems by their numbers. Stems are only added: to forget some, another table is begun and this one stays as it is.
   */
  readonly stems: readonly string[];
  /** Called where no number is in use: forgets all words when there are too many, and says whether it did. */
  trim(): boolean;
}

/** Numbers of stems in order, repeated ones too. Filled again and again, because there are so many. */
export interface StemList {
  numbers: Int32Array;
  length: number;
}

export function createStemList(): StemList {
  return { numbers: new Int32Array(256), length: 0 };
}

export function pushStem(list: StemList, number: number): void {
  if (list.length === list.numbers.length) list.numbers = grown(list.numbers);
  list.numbers[list.length] = number;
  list.length += 1;
}

export interface StemTableOptions {
  /** Asked once for most words. */
  readonly stem: (word: string) => string;
  readonly isStopword: (word: string) => boolean;
  readonly wordLimit?: number;
}

/**
 * Words that are remembered, as many as fill their slots (8 MB): a catalog of a hundred thousand tools has some 25,000
 * different ones, and where each tool has a number or a name of its own, as many more. With half the limit all would be
 * forgotten, and read and stemmed again and again.
 */
const usualWordLimit = 2 ** 17;

export function createStemTable({ stem, isStopword, wordLimit = usualWordLimit }: StemTableOptions): StemTable {
  let stems: string[] = [];
  let stemNumbers = new Map<string, number>();
  let words = createWordSlots();
  /** Where the text that is read now goes. */
  let list = createStemList();
  const reader = createAsciiReader((length) => push(valueOf(length)));
  const { letters } = reader;

  function numberOf(stemmed: string): number {
    let number = stemNumbers.get(stemmed);
    if (number === undefined) {
      stemNumbers.set(stemmed, (number = stems.length));
      stems.push(stemmed);
    }
    return number;
  }

  /** The number of a word's stem; that of a stopword is turned over, which makes it negative. */
  function read(word: string): number {
    const number = numberOf(stem(word));
    return isStopword(word) ? ~number : number;
  }

  /** What `read` says of the word in `letters`. */
  function valueOf(length: number): number {
    const known = words.find(letters, length);
    if (known !== absent) return known;
    const value = read(toText(letters, length));
    words.put(letters, length, value);
    return value;
  }

  function push(value: number): void {
    if (value >= 0) pushStem(list, value);
  }

  /** What `read` says of a word, which is not looked for by its letters where they are not ASCII, or too many. */
  function valueOfWord(word: string): number {
    return reader.put(word) ? valueOf(word.length) : read(word);
  }

  return {
    telling(text, into) {
      list = into;
      const start = into.length;
      const way = reader.read(text);
      if (way === "humps") {
        for (const name of proseBrands(text)) push(valueOfWord(name.slice(0, wordLengthLimit).toLowerCase()));
      } else if (way === "other") {
        into.length = start;
        for (const word of toProseWords(text)) push(valueOfWord(word));
      }
    },
    word(word, into) {
      const value = valueOfWord(word);
      pushStem(into, value < 0 ? ~value : value);
    },
    get stems() {
      return stems;
    },
    trim() {
      if (words.size < wordLimit && stems.length < wordLimit) return false;
      stems = [];
      stemNumbers = new Map();
      words = createWordSlots();
      return true;
    },
  };
}

/** The same content in an array twice as long. */
export function grown<Numbers extends Int32Array | Uint8Array>(numbers: Numbers): Numbers {
  const longer = new (numbers.constructor as new (length: number) => Numbers)(numbers.length * 2);
  longer.set(numbers);
  return longer;
}
