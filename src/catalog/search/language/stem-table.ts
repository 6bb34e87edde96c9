import { createAsciiReader, toText } from "./ascii-reader.ts";
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

/** Places that are looked at for a word. Chosen words may crowd; they are then looked up as strings. */
const probeLimit = 16;

/** Values of words, found by the letters of a text, of which four are in a number. */
interface WordSlots {
  readonly size: number;
  /** The value of this word; `absent` where it has none. */
  find(letters: Int32Array, length: number): number;
  /** Gives the word that was not found last a value, unless it is long, or crowded there. */
  put(letters: Int32Array, length: number, value: number): void;
}

/** What no word has as its value. */
const absent = -(2 ** 31);

/**
 * Numbers that a slot has: value, length and letters stand together in half of what a processor gets at once, because
 * most of what finding a word takes is getting at it.
 */
const slotSize = 8;
const slotValue = 0;
/** 0 of a free one. */
const slotLength = 1;
const slotLetters = 2;
/** A longer word is looked up as a string: of those that are read, one in a thousand. */
const longestWord = 4 * (slotSize - slotLetters);

/** Found by open addressing. No more than half of the slots are taken. */
function createWordSlots(): WordSlots {
  /** Random, so that no client can choose words that collide. */
  const seed = Math.floor(Math.random() * 0x7fffffff);
  let slots = new Int32Array(4_096 * slotSize);
  let mask = 4_095;
  let size = 0;
  /** Where the word may be put that was not found last; below 0 where it may not. */
  let free = -1;

  function makeRoom(): void {
    const before = slots;
    slots = new Int32Array(before.length * 2);
    mask = slots.length / slotSize - 1;
    for (let at = 0; at < before.length; at += slotSize) {
      const length = before[at + slotLength] as number;
      if (length === 0) continue;
      let slot = hashOf(before, at + slotLetters, length, seed) & mask;
      while (slots[slot * slotSize + slotLength] !== 0) slot = (slot + 1) & mask;
      for (let number = 0; number < slotSize; number += 1)
        slots[slot * slotSize + number] = before[at + number] as number;
    }
  }

  return {
    get size() {
      return size;
    },
    find(letters, length) {
      free = -1;
      if (length > longestWord) return absent;
      const hash = hashOf(letters, 0, length, seed);
      for (let probe = 0; probe < probeLimit; probe += 1) {
        const at = ((hash + probe) & mask) * slotSize;
        const there = slots[at + slotLength] as number;
        if (there === 0) {
          free = at;
          return absent;
        }
        if (there !== length) continue;
        let number = (length - 1) >> 2;
        while (number >= 0 && slots[at + slotLetters + number] === letters[number]) number -= 1;
        if (number < 0) return slots[at + slotValue] as number;
      }
      return absent;
    },
    put(letters, length, value) {
      if (free < 0) return;
      slots[free + slotValue] = value;
      slots[free + slotLength] = length;
      for (let number = 0; number * 4 < length; number += 1)
        slots[free + slotLetters + number] = letters[number] as number;
      size += 1;
      if (size * 2 > mask) makeRoom();
    },
  };
}

/** After each number, what its last letters did is spread over all bits. */
function hashOf(letters: Int32Array, from: number, length: number, seed: number): number {
  let hash = seed ^ length;
  for (let at = 0; at * 4 < length; at += 1) {
    hash = Math.imul(hash ^ (letters[from + at] as number), 0x2c1b3c6d);
    hash ^= hash >>> 15;
  }
  return hash;
}
