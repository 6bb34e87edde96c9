/** What waits under a number. */
export interface Numbered {
  readonly id: number;
}

/**
 * Entries by number, where numbers are given out here. A Map that is filled and emptied all the time spends its time
 * growing and shrinking; here an entry's place is its number modulo the size, and a number whose place is taken is
 * not given out.
 */
export interface SlotTable<T extends Numbered> {
  /** A number that was never given out before. */
  nextId(): number;
  /**
   * Under a number that this table gave out, or one of another such table, whose numbers are as close together.
   * Replaces its namesake.
   */
  put(entry: T): void;
  get(id: number): T | undefined;
  /** Takes the entry out. */
  take(id: number): T | undefined;
  values(): T[];
  /** The highest number given out. */
  readonly lastId: number;
  readonly size: number;
}

const firstSize = 64;

export function createSlotTable<T extends Numbered>(): SlotTable<T> {
  let slots: (T | undefined)[] = new Array<T | undefined>(firstSize).fill(undefined);
  let lastId = 0;
  let size = 0;

  /** Two numbers that differ modulo the old size differ modulo twice that too: nobody loses his place. */
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
