/** Places that are looked at for a word. Chosen words may crowd; they are then looked up as strings. */
const probeLimit = 16;

/** Values of words, found by the letters of a text, of which four are in a number. */
export interface WordSlots {
  readonly size: number;
  /** The value of this word; `absent` where it has none. */
  find(letters: Int32Array, length: number): number;
  /** Gives the word that was not found last a value, unless it is long, or crowded there. */
  put(letters: Int32Array, length: number, value: number): void;
}

/** What no word has as its value. */
export const absent = -(2 ** 31);

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
export function createWordSlots(): WordSlots {
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
