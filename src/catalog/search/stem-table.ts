import { eachAsciiWord, proseBrands, toProseWords, wordLengthLimit } from "./words.ts";

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
  stemAt(number: number): string;
  /** How many numbers there are. */
  readonly size: number;
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
  readonly stem: (word: string) => string;
  readonly isStopword: (word: string) => boolean;
  readonly wordLimit?: number;
}

/** Words that are remembered, 3 MB: a catalog of ten thousand tools has some 25,000 different ones. */
const usualWordLimit = 50_000;
/** Places that are looked at for a word. Chosen words may crowd; they are then looked up as strings. */
const probeLimit = 16;

export function createStemTable({ stem, isStopword, wordLimit = usualWordLimit }: StemTableOptions): StemTable {
  const seed = Math.floor(Math.random() * 0x7fffffff);
  let stems: string[] = [];
  let stemNumbers = new Map<string, number>();
  let words = createWordSlots();
  /** Where the text that is read now goes. */
  let list = createStemList();

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

  function push(value: number): void {
    if (value >= 0) pushStem(list, value);
  }

  function pushSlice(text: string, start: number, end: number): void {
    if (end > start) push(valueOf(text, start, end));
  }

  /** What `read` says of the word between two places of a text that are ASCII. */
  function valueOf(text: string, start: number, end: number): number {
    const last = Math.min(end, start + wordLengthLimit);
    let hash = seed;
    for (let at = start; at < last; at += 1) hash = Math.imul(hash ^ lowerCode(text, at), 0x01000193);
    hash = mixed(hash);
    const slot = words.find(text, start, last, hash);
    if (slot >= 0 && words.isTaken(slot)) return words.valueAt(slot);
    const word = text.slice(start, last).toLowerCase();
    const value = read(word);
    if (slot >= 0) words.put(slot, { word, hash, value });
    return value;
  }

  return {
    telling(text, into) {
      list = into;
      const before = list.length;
      const way = eachAsciiWord(text, pushSlice);
      if (way === "other") {
        list.length = before;
        for (const word of toProseWords(text)) push(read(word));
      } else if (way === "humps") {
        for (const name of proseBrands(text)) pushSlice(name, 0, name.length);
      }
    },
    word(word, into) {
      const value = isAscii(word) ? valueOf(word, 0, word.length) : read(word);
      pushStem(into, value < 0 ? ~value : value);
    },
    stemAt: (number) => stems[number] as string,
    get size() {
      return stems.length;
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

interface WordSlots {
  readonly size: number;
  /** The slot of this word, or the one where it shall be put; below 0 when it is crowded there. */
  find(text: string, start: number, end: number, hash: number): number;
  isTaken(slot: number): boolean;
  valueAt(slot: number): number;
  put(slot: number, entry: { readonly word: string; readonly hash: number; readonly value: number }): void;
}

/** Words in one row of bytes, found by open addressing. No more than half of the slots are taken. */
function createWordSlots(): WordSlots {
  let taken = new Int32Array(4_096);
  let hashes = new Int32Array(1_024);
  let values = new Int32Array(1_024);
  /** Where each word begins in `letters`; one more entry for the end. */
  let starts = new Int32Array(1_024);
  let letters = new Uint8Array(16_384);
  let size = 0;

  function isWord(entry: number, text: string, start: number, end: number): boolean {
    const from = starts[entry] as number;
    if ((starts[entry + 1] as number) - from !== end - start) return false;
    for (let at = start; at < end; at += 1) if (letters[from + at - start] !== lowerCode(text, at)) return false;
    return true;
  }

  function rehash(): void {
    taken = new Int32Array(taken.length * 2);
    for (let entry = 0; entry < size; entry += 1) {
      let slot = (hashes[entry] as number) & (taken.length - 1);
      while (taken[slot] !== 0) slot = (slot + 1) & (taken.length - 1);
      taken[slot] = entry + 1;
    }
  }

  return {
    get size() {
      return size;
    },
    find(text, start, end, hash) {
      const mask = taken.length - 1;
      for (let probe = 0; probe < probeLimit; probe += 1) {
        const slot = (hash + probe) & mask;
        const entry = (taken[slot] as number) - 1;
        if (entry < 0 || (hashes[entry] === hash && isWord(entry, text, start, end))) return slot;
      }
      return -1;
    },
    isTaken: (slot) => taken[slot] !== 0,
    valueAt: (slot) => values[(taken[slot] as number) - 1] as number,
    put(slot, { word, hash, value }) {
      if (size + 2 > starts.length) {
        starts = grown(starts);
        hashes = grown(hashes);
        values = grown(values);
      }
      const from = starts[size] as number;
      while (from + word.length > letters.length) letters = grown(letters);
      for (let at = 0; at < word.length; at += 1) letters[from + at] = word.charCodeAt(at);
      hashes[size] = hash;
      values[size] = value;
      taken[slot] = size += 1;
      starts[size] = from + word.length;
      if (size * 2 > taken.length) rehash();
    },
  };
}

function isAscii(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) > 127) return false;
  return word.length <= wordLengthLimit;
}

function lowerCode(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 65 && code <= 90 ? code + 32 : code;
}

/** Spreads what the last characters did over all bits. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return half ^ (half >>> 13);
}

/** The same content in an array twice as long. */
export function grown<Numbers extends Int32Array | Uint8Array>(numbers: Numbers): Numbers {
  const longer = new (numbers.constructor as new (length: number) => Numbers)(numbers.length * 2);
  longer.set(numbers);
  return longer;
}
