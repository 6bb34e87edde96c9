import { isSeparator, proseBrands, toProseWords, wordLengthLimit } from "./words.ts";

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
   * Stems by their numbers. More are added to it, and none is taken away: what is forgotten leaves it as it is, and
   * another one is begun.
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
  /** The word that is read now, in small letters. */
  const letters = new Uint8Array(wordLengthLimit);

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
  function valueOf(length: number, sum: number): number {
    const hash = mixed(sum);
    const slot = words.find(letters, length, hash);
    if (slot >= 0 && words.isTaken(slot)) return words.valueAt(slot);
    const value = read(Buffer.from(letters.buffer, 0, length).toString("latin1"));
    if (slot >= 0) words.put(slot, { letters, length, hash, value });
    return value;
  }

  function pushWord(into: StemList, length: number, sum: number): void {
    const value = valueOf(length, sum);
    if (value >= 0) pushStem(into, value);
  }

  /**
   * Pushes the words of a text like `eachAsciiWord` tells them, in one pass: each character is looked up, put into the
   * word and into its hash, and no string is made of it. Says the same of the text.
   */
  function pushAscii(text: string, into: StemList): "words" | "humps" | "other" {
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
        if (length > 0) pushWord(into, Math.min(length, wordLengthLimit), sum);
        length = 0;
        sum = seed;
        before = kinds.other;
        continue;
      }
      const kind = letter === code ? kinds.lower : kinds.upper;
      if (kind === kinds.upper && before === kinds.lower) {
        hasHump = true;
        pushWord(into, Math.min(length, wordLengthLimit), sum);
        length = 0;
        sum = seed;
      } else if (kind === kinds.lower && before === kinds.upper && length > 1 && code > 57) {
        // The last capital begins the next word.
        const last = smallLetters[text.charCodeAt(at - 1)] as number;
        if (length > wordLengthLimit) pushWord(into, wordLengthLimit, sum);
        else pushWord(into, length - 1, sumBefore);
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
    if (length > 0) pushWord(into, Math.min(length, wordLengthLimit), sum);
    return hasHump ? "humps" : "words";
  }

  /** What `read` says of a word, which is not looked for by its characters where they are not ASCII, or too many. */
  function valueOfWord(word: string): number {
    if (word.length > wordLengthLimit) return read(word);
    let sum = seed;
    for (let at = 0; at < word.length; at += 1) {
      const code = word.charCodeAt(at);
      if (code > 127) return read(word);
      letters[at] = code;
      sum = added(sum, code);
    }
    return valueOf(word.length, sum);
  }

  return {
    telling(text, into) {
      const start = into.length;
      const way = pushAscii(text, into);
      if (way === "words") return;
      if (way === "other") into.length = start;
      const names = way === "other" ? toProseWords(text) : proseBrands(text);
      for (const name of names) {
        const value = valueOfWord(way === "other" ? name : name.slice(0, wordLengthLimit).toLowerCase());
        if (value >= 0) pushStem(into, value);
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

interface WordSlots {
  readonly size: number;
  /** The slot of this word, or the one where it shall be put; below 0 when it is crowded there. */
  find(letters: Uint8Array, length: number, hash: number): number;
  isTaken(slot: number): boolean;
  valueAt(slot: number): number;
  put(slot: number, entry: WordEntry): void;
}

interface WordEntry {
  readonly letters: Uint8Array;
  readonly length: number;
  readonly hash: number;
  readonly value: number;
}

/** Numbers that a slot has: they stand together, because most of what finding a word takes is getting at them. */
const slotSize = 4;
const slotHash = 0;
const slotStart = 1;
/** 0 of a free one. */
const slotLength = 2;
const slotValue = 3;

/** Words in one row of bytes, found by open addressing. No more than half of the slots are taken. */
function createWordSlots(): WordSlots {
  let slots = new Int32Array(4_096 * slotSize);
  let mask = 4_095;
  let all = new Uint8Array(16_384);
  let used = 0;
  let size = 0;

  function isWord(at: number, letters: Uint8Array, length: number): boolean {
    if (slots[at + slotLength] !== length) return false;
    const from = slots[at + slotStart] as number;
    for (let place = 0; place < length; place += 1) if (all[from + place] !== letters[place]) return false;
    return true;
  }

  function makeRoom(): void {
    const before = slots;
    slots = new Int32Array(before.length * 2);
    mask = slots.length / slotSize - 1;
    for (let at = 0; at < before.length; at += slotSize) {
      if (before[at + slotLength] === 0) continue;
      let slot = (before[at + slotHash] as number) & mask;
      while (slots[slot * slotSize + slotLength] !== 0) slot = (slot + 1) & mask;
      slots.set(before.subarray(at, at + slotSize), slot * slotSize);
    }
  }

  return {
    get size() {
      return size;
    },
    find(letters, length, hash) {
      for (let probe = 0; probe < probeLimit; probe += 1) {
        const slot = (hash + probe) & mask;
        const at = slot * slotSize;
        if (slots[at + slotLength] === 0 || (slots[at + slotHash] === hash && isWord(at, letters, length))) return slot;
      }
      return -1;
    },
    isTaken: (slot) => slots[slot * slotSize + slotLength] !== 0,
    valueAt: (slot) => slots[slot * slotSize + slotValue] as number,
    put(slot, { letters, length, hash, value }) {
      while (used + length > all.length) all = grown(all);
      all.set(letters.subarray(0, length), used);
      const at = slot * slotSize;
      slots[at + slotHash] = hash;
      slots[at + slotStart] = used;
      slots[at + slotLength] = length;
      slots[at + slotValue] = value;
      used += length;
      size += 1;
      if (size * 2 > mask) makeRoom();
    },
  };
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
