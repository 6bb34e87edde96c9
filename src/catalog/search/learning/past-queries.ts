import { createLeanings, type Leaning, type LeaningOptions } from "./query-likelihood.ts";

/** One query that led to a tool before. */
export interface PastQuery {
  /** Each once. */
  readonly stems: readonly string[];
  /** What it led to: the same object for each query that led there. */
  readonly place: object;
}

export interface Resemblance<Q> {
  readonly query: Q;
  /** Cosine of the two queries' words, each as long as it is rare: 1 the same words, 0 none in common. */
  readonly similarity: number;
}

/**
 * Past queries by their words. They are compared one by one: put together, the queries of a tool would soon hold every
 * common word, and a tool that is used would be found for everything. Only a word that they have more often than all
 * queries do says something of the tool (`query-likelihood.ts`).
 */
export interface PastQueries<Q extends PastQuery> {
  add(query: Q): void;
  remove(query: Q): void;
  /**
   * Those that `isWanted` and are more like these stems than `least`, in no order. `rarityOf` says how much a stem
   * tells.
   */
  like(stems: readonly string[], options: LikeOptions<Q>): readonly Resemblance<Q>[];
  /** Where these stems led more often than queries do on the whole, in no order. */
  leaning(stems: readonly string[], options: LeaningOptions<Q["place"]>): readonly Leaning<Q["place"]>[];
}

export interface LikeOptions<Q> {
  readonly least: number;
  readonly rarityOf: (stem: string) => number;
  readonly isWanted: (query: Q) => boolean;
}

/**
 * Catalogs in which lengths of past queries are remembered, those used last, because teams may have different servers:
 * 160 KB each when there are twenty thousand, which is 10 MB at most.
 */
const mostCatalogs = 64;

/** How long each past query is in a catalog, squared and by slot. */
interface Lengths {
  of(slot: number, stems: readonly string[]): number;
}

interface LengthMemory {
  in(rarityOf: LikeOptions<PastQuery>["rarityOf"]): Lengths;
  /** The slot has another query from now on. */
  forget(slot: number): void;
}

function createLengthMemory(): LengthMemory {
  /** By catalog, and dropped with it. 0 where no query is known yet. */
  const known = new WeakMap<LikeOptions<PastQuery>["rarityOf"], number[]>();
  /** Those of the catalogs used last; an entry in no such list any more is not kept up to date. */
  const recent = new Set<number[]>();
  return {
    in(rarityOf) {
      let squares = known.get(rarityOf);
      if (squares === undefined || !recent.delete(squares)) known.set(rarityOf, (squares = []));
      const lengths = squares;
      recent.add(lengths);
      const [oldest] = recent;
      if (recent.size > mostCatalogs && oldest !== undefined) recent.delete(oldest);
      return {
        of(slot, stems) {
          while (lengths.length <= slot) lengths.push(0);
          let square = lengths[slot] as number;
          if (square === 0) lengths[slot] = square = stems.reduce((sum, stem) => sum + rarityOf(stem) ** 2, 0);
          return square;
        },
      };
    },
    forget(slot) {
      for (const squares of recent) if (slot < squares.length) squares[slot] = 0;
    },
  };
}

/** By stem: the slots of the queries that have it. */
type SlotsByStem = Map<string, number[]>;

function enter(slots: SlotsByStem, stems: readonly string[], slot: number): void {
  for (const stem of stems) {
    const list = slots.get(stem);
    if (list === undefined) slots.set(stem, [slot]);
    else list.push(slot);
  }
}

function strike(slots: SlotsByStem, stems: readonly string[], slot: number): void {
  for (const stem of stems) {
    const list = slots.get(stem) ?? [];
    const last = list.pop();
    if (last !== undefined && last !== slot) list[list.indexOf(slot)] = last;
    if (list.length === 0) slots.delete(stem);
  }
}

/** None yet. To be asked with the same `rarityOf` for the same catalog: then lengths are not added up every time. */
export function createPastQueries<Q extends PastQuery>(): PastQueries<Q> {
  const slots: (Q | undefined)[] = [];
  const slotOf = new Map<Q, number>();
  const free: number[] = [];
  const byStem: SlotsByStem = new Map();
  const lengths = createLengthMemory();
  const leanings = createLeanings<Q["place"]>();
  // By slot: what a query shares with the one that is asked. All 0 between two searches.
  let shared = new Float64Array(256);
  let touched = new Uint32Array(256);

  /** How many slots there are in `touched` then. */
  function countShared(stems: readonly Stem[], all: number, needed: number): number {
    let count = 0;
    let left = all;
    for (const { stem, square } of stems) {
      // Rare stems come first: what shares none of them cannot become like enough by those that are left.
      const isOpen = left > needed;
      left -= square;
      const holders = byStem.get(stem);
      if (holders === undefined) continue;
      for (const slot of holders) {
        const common = shared[slot] as number;
        if (common === 0) {
          if (!isOpen) continue;
          touched[count] = slot;
          count += 1;
        }
        shared[slot] = common + square;
      }
    }
    return count;
  }

  return {
    add(query) {
      const slot = free.pop() ?? slots.length;
      slots[slot] = query;
      slotOf.set(query, slot);
      if (slot >= shared.length) {
        shared = new Float64Array(2 * shared.length);
        touched = new Uint32Array(shared.length);
      }
      lengths.forget(slot);
      leanings.add(slot, query.place);
      enter(byStem, query.stems, slot);
    },
    remove(query) {
      const slot = slotOf.get(query);
      if (slot === undefined) return;
      slotOf.delete(query);
      slots[slot] = undefined;
      free.push(slot);
      leanings.remove(slot);
      strike(byStem, query.stems, slot);
    },
    like(stems, { least, rarityOf, isWanted }) {
      const asked = [...new Set(stems)]
        .map((stem): Stem => ({ stem, square: rarityOf(stem) ** 2 }))
        .sort((one, other) => other.square - one.square);
      const askedSquare = asked.reduce((sum, { square }) => sum + square, 0);
      // No query is longer than what it shares: what shares no more than this cannot be like enough.
      const needed = least ** 2 * askedSquare;
      const known = lengths.in(rarityOf);
      const found: Resemblance<Q>[] = [];
      const count = countShared(asked, askedSquare, needed);
      for (let at = 0; at < count; at += 1) {
        const slot = touched[at] as number;
        const common = shared[slot] as number;
        shared[slot] = 0;
        if (common <= needed) continue;
        const query = slots[slot] as Q;
        if (!isWanted(query)) continue;
        // A stem that was not asked for counts in the length of its query only.
        const similarity = common / Math.sqrt(askedSquare * known.of(slot, query.stems));
        if (similarity > least) found.push({ query, similarity });
      }
      return found;
    },
    leaning(stems, options) {
      const holders = [...new Set(stems)].map((stem) => byStem.get(stem)).filter((slots) => slots !== undefined);
      return leanings.of(holders, options);
    },
  };
}

interface Stem {
  readonly stem: string;
  /** How much it tells, squared. */
  readonly square: number;
}
