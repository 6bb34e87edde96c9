/** Only this many characters of a name are compared. */
const comparedCharacters = 80;
/** Only this many candidates are compared: an error must not hold everybody else up. */
const comparedNames = 20_000;
/** What has less in common is not meant. */
const leastLikeness = 0.2;

/** Names whose pairs of letters are known, so that they are read once and not for every wrong name. */
export interface NameIndex {
  readonly names: readonly string[];
  /** How many different pairs each has; none for one that is not ASCII. */
  readonly sizes: Uint8Array;
  /** By pair: which names have it, a bit for each. */
  readonly holders: ReadonlyMap<number, Uint32Array>;
  /** Which names are not ASCII. */
  readonly odd: readonly number[];
}

/** The names most similar to the wanted one, best first, by the share of letter pairs that they have in common. */
export function nearestNames(wanted: string, names: readonly string[], limit: number): string[] {
  return nearestIn(wanted, [indexNames(names)], limit);
}

/** The same for names in several lists. */
export function nearestIn(wanted: string, indexes: readonly NameIndex[], limit: number): string[] {
  const pairs = pairsOf(wanted);
  if (pairs.size === 0) return indexes.flatMap(({ names }) => names.slice(0, limit)).slice(0, limit);
  const best = new Best(limit);
  let left = comparedNames;
  for (const index of indexes) {
    if (left <= 0) break;
    left -= index.names.length;
    offerSimilar(index, pairs, best);
    for (const place of index.odd) {
      const name = index.names[place] as string;
      best.offer(name, likenessOf(pairs, pairsOf(name)));
    }
  }
  return best.names;
}

/**
 * Counts the shared pairs of 32 names at once: the names that hold a pair are bits of a number, and the counts are
 * binary numbers of which each digit is such a number for 32 names. 10,000 names take a tenth of what it takes to look
 * at each of their pairs.
 */
function offerSimilar({ names, sizes, holders }: NameIndex, pairs: ReadonlySet<string>, best: Best): void {
  const held = [...pairs].flatMap((pair) => holders.get((pair.charCodeAt(0) << 7) | pair.charCodeAt(1)) ?? []);
  const digits = new Uint32Array(mostDigits);
  for (let word = 0; word * 32 < names.length; word += 1) {
    digits.fill(0);
    for (const bits of held) {
      let carry = bits[word] as number;
      for (let digit = 0; carry !== 0; digit += 1) {
        const before = digits[digit] as number;
        digits[digit] = before ^ carry;
        carry &= before;
      }
    }
    let rest = digits.reduce((all, digit) => all | digit, 0);
    for (; rest !== 0; rest &= rest - 1) {
      const bit = 31 - Math.clz32(rest & -rest);
      const place = word * 32 + bit;
      let shared = 0;
      for (let digit = 0; digit < mostDigits; digit += 1) shared |= (((digits[digit] as number) >>> bit) & 1) << digit;
      best.offer(names[place] as string, (2 * shared) / (pairs.size + (sizes[place] as number)));
    }
  }
}

/** Of a number of pairs, in binary: names of 80 characters have at most 79. */
const mostDigits = 7;

/** The most similar ones so far, best first; equally similar ones in the order of their letters. */
class Best {
  readonly names: string[] = [];
  readonly #likeness: number[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(name: string, likeness: number): void {
    if (likeness <= leastLikeness) return;
    let place = this.names.length;
    while (place > 0 && this.#isBefore(name, likeness, place - 1)) place -= 1;
    if (place >= this.#limit) return;
    this.names.splice(place, 0, name);
    this.#likeness.splice(place, 0, likeness);
    this.names.length = Math.min(this.names.length, this.#limit);
    this.#likeness.length = this.names.length;
  }

  #isBefore(name: string, likeness: number, place: number): boolean {
    const other = this.#likeness[place] as number;
    return likeness > other || (likeness === other && name < (this.names[place] as string));
  }
}

/** Reads ASCII names, as nearly all are, without making texts of their pairs. */
export function indexNames(all: readonly string[]): NameIndex {
  const names = all.slice(0, comparedNames);
  const sizes = new Uint8Array(names.length);
  const holders = new Map<number, Uint32Array>();
  const odd: number[] = [];
  for (const [place, name] of names.entries()) {
    const compared = name.slice(0, comparedCharacters);
    // Control characters stand between words, as all that is neither a letter nor a digit.
    if (/[^\0-\x7f]/.test(compared)) {
      odd.push(place);
      continue;
    }
    let before = 0;
    for (let at = 0; at < compared.length; at += 1) {
      const letter = letterOf(compared.charCodeAt(at));
      if (letter === space && before === space) continue;
      if (before !== 0 && hold(holders, (before << 7) | letter, { place, of: names.length }))
        sizes[place] = (sizes[place] as number) + 1;
      before = letter;
    }
  }
  return { names, sizes, holders, odd };
}

/** Notes that a name has a pair. False where it had it already: each counts once. */
function hold(
  holders: Map<number, Uint32Array>,
  pair: number,
  { place, of }: { readonly place: number; readonly of: number },
): boolean {
  let bits = holders.get(pair);
  if (bits === undefined) holders.set(pair, (bits = new Uint32Array(Math.ceil(of / 32))));
  const before = bits[place >>> 5] as number;
  bits[place >>> 5] = before | (1 << (place & 31));
  return bits[place >>> 5] !== before;
}

const space = 32;

/** Small letters and digits; everything else separates words. */
function letterOf(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) ? code : space;
}

function likenessOf(pairs: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of others) if (pairs.has(pair)) shared += 1;
  return (2 * shared) / (pairs.size + others.size || 1);
}

function pairsOf(text: string): Set<string> {
  const letters = text
    .slice(0, comparedCharacters)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ");
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < letters.length; at += 1) pairs.add(letters.slice(at, at + 2));
  return pairs;
}
