/** One query that led to a tool before. */
export interface PastQuery {
  /** Each once. */
  readonly stems: readonly string[];
}

export interface Resemblance<Q> {
  readonly query: Q;
  /** Cosine of the two queries' words, each as long as it is rare: 1 the same words, 0 none in common. */
  readonly similarity: number;
}

/**
 * Past queries by their words. They are compared one by one: put together, the queries of a tool would soon hold every
 * common word, and a tool that is used would be found for everything.
 */
export interface PastQueries<Q extends PastQuery> {
  add(query: Q): void;
  remove(query: Q): void;
  /**
   * Those that `isWanted` and are more like these stems than `least`, in no order. `rarityOf` says how much a stem
   * tells.
   */
  like(stems: readonly string[], options: LikeOptions<Q>): readonly Resemblance<Q>[];
}

export interface LikeOptions<Q> {
  readonly least: number;
  readonly rarityOf: (stem: string) => number;
  readonly isWanted: (query: Q) => boolean;
}

export function createPastQueries<Q extends PastQuery>(): PastQueries<Q> {
  const slots: (Q | undefined)[] = [];
  const slotOf = new Map<Q, number>();
  const free: number[] = [];
  const byStem = new Map<string, number[]>();
  // By slot: what a query shares with the one that is asked. All 0 between two searches.
  let shared = new Float64Array(256);

  function countShared(stems: readonly string[], squareOf: (stem: string) => number, needed: number): number[] {
    const touched: number[] = [];
    let left = stems.reduce((sum, stem) => sum + squareOf(stem), 0);
    for (const stem of stems) {
      const square = squareOf(stem);
      // Rare stems come first: what shares none of them cannot become like enough by those that are left.
      const isOpen = left > needed;
      for (const slot of byStem.get(stem) ?? []) {
        const common = shared[slot] as number;
        if (common === 0 && !isOpen) continue;
        if (common === 0) touched.push(slot);
        shared[slot] = common + square;
      }
      left -= square;
    }
    return touched;
  }

  return {
    add(query) {
      const slot = free.pop() ?? slots.length;
      slots[slot] = query;
      slotOf.set(query, slot);
      if (slot >= shared.length) shared = new Float64Array(2 * shared.length);
      for (const stem of query.stems) {
        const list = byStem.get(stem);
        if (list === undefined) byStem.set(stem, [slot]);
        else list.push(slot);
      }
    },
    remove(query) {
      const slot = slotOf.get(query);
      if (slot === undefined) return;
      slotOf.delete(query);
      slots[slot] = undefined;
      free.push(slot);
      for (const stem of query.stems) {
        const list = byStem.get(stem) ?? [];
        const last = list.pop();
        if (last !== undefined && last !== slot) list[list.indexOf(slot)] = last;
        if (list.length === 0) byStem.delete(stem);
      }
    },
    like(stems, { least, rarityOf, isWanted }) {
      const squares = new Map(stems.map((stem) => [stem, rarityOf(stem) ** 2]));
      // A stem of the past that was not asked for counts in the length of its query only.
      const squareOf = (stem: string): number => {
        let square = squares.get(stem);
        if (square === undefined) squares.set(stem, (square = rarityOf(stem) ** 2));
        return square;
      };
      const asked = [...squares.keys()].sort((one, other) => squareOf(other) - squareOf(one));
      const askedSquare = asked.reduce((sum, stem) => sum + squareOf(stem), 0);
      // No query is longer than what it shares: what shares no more than this cannot be like enough.
      const needed = least ** 2 * askedSquare;
      const found: Resemblance<Q>[] = [];
      for (const slot of countShared(asked, squareOf, needed)) {
        const common = shared[slot] as number;
        const query = slots[slot] as Q;
        shared[slot] = 0;
        if (common <= needed || !isWanted(query)) continue;
        const ownSquare = query.stems.reduce((sum, stem) => sum + squareOf(stem), 0);
        const similarity = common / Math.sqrt(askedSquare * ownSquare);
        if (similarity > least) found.push({ query, similarity });
      }
      return found;
    },
  };
}
