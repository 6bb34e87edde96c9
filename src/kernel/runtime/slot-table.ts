/** An entry that is stored under a number. */
export interface Numbered {
  readonly id: number;
}

/**
 * Entries stored under numbers that the table itself hands out. A Map that keeps filling and emptying spends its time
 * growing and shrinking. Here an entry's slot is its number modulo the size of the table, and a number whose slot is
 * taken is not handed out.
 */
export interface SlotTable<T extends Numbered> {
  /** Returns a number that was never returned before. */
  nextId(): number;
  /**
   * Stores an entry under a number from this table, or from another SlotTable (whose numbers are just as dense).
   * Replaces an entry of the same number.
   */
  put(entry: T): void;
  get(id: number): T | undefined;
  /** Removes the entry and returns it. */
  take(id: number): T | undefined;
  values(): T[];
  /** The highest number handed out so far. */
  readonly lastId: number;
  readonly size: number;
}

const firstSize = 64;

/** An empty table. */
export function createSlotTable<T extends Numbered>(): SlotTable<T> {
  let slots: (T | undefined)[] = new Array<T | undefined>(firstSize).fill(undefined);
  let lastId = 0;
  let size = 0;

  /** Doubles the table. Numbers with different slots still have different ones afterwards, so no entry is displaced. */
  function grow(): void {
    const larger = new Array<T | undefined>(slots.length * 2).fill(undefined);
    for (const entry of slots) if (entry !== undefined) larger[entry.id % larger.length] = entry;
    slots = larger;
  }

  function get(id: number): T | undefined {
    const entry = slots[id % slots.length];
    return entry?.id === id ? entry : undefined;
  }

  return {
    nextId() {
      if (size * 2 >= slots.length) grow();
      do lastId += 1;
      while (slots[lastId % slots.length] !== undefined);
      return lastId;
    },
    put(entry) {
      for (;;) {
        const place = entry.id % slots.length;
        const there = slots[place];
        if (there === undefined || there.id === entry.id) {
          if (there === undefined) size += 1;
          slots[place] = entry;
          return;
        }
        grow();
      }
    },
    get,
    take(id) {
      const entry = get(id);
      if (entry === undefined) return undefined;
      slots[id % slots.length] = undefined;
      size -= 1;
      return entry;
    },
    values: () => slots.filter((entry) => entry !== undefined),
    get lastId() {
      return lastId;
    },
    get size() {
      return size;
    },
  };
}
