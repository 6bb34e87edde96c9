import { grown } from "./grown.ts";

/** Places that are looked at for a word. Chosen words may crowd; they are then looked up as strings. */
const probeLimit = 16;

/** Values of words, found by the letters of a text. */
export interface WordSlots {
  readonly size: number;
  /** The slot of this word, or the one where it shall be put; below 0 when it is crowded there. */
  find(letters: Uint8Array, length: number, hash: number): number;
  isTaken(slot: number): boolean;
  valueAt(slot: number): number;
  put(slot: number, entry: WordEntry): void;
}

export interface WordEntry {
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
export function createWordSlots(): WordSlots {
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
