/** Only this many characters of a name are compared. */
const comparedCharacters = 80;
/** Only this many candidates are compared: an error must not hold everybody else up. */
const comparedNames = 20_000;
/** What has less in common is not meant. */
const leastLikeness = 0.2;

/** Names whose pairs of letters are known, so that they are read once and not for every wrong name. */
export interface NameIndex {
  readonly names: readonly string[];
  /** The different pairs of each name after the other, as numbers; none of a name that is not ASCII. */
  readonly pairs: Uint16Array;
  /** Where the pairs of each name end. */
  readonly ends: Uint32Array;
  /** Which names are not ASCII. */
  readonly odd: ReadonlySet<number>;
}

/** The names most similar to the wanted one, best first, by the share of letter pairs that they have in common. */
export function nearestNames(wanted: string, names: readonly string[], limit: number): string[] {
  return nearestIn(wanted, [indexNames(names)], limit);
}

/** The same for names in several lists. 10,000 names take 0.2 ms. */
export function nearestIn(wanted: string, indexes: readonly NameIndex[], limit: number): string[] {
  const pairs = pairsOf(wanted);
  if (pairs.size === 0) return indexes.flatMap(({ names }) => names.slice(0, limit)).slice(0, limit);
  const isWanted = toNumbers(pairs);
  const best = new Best(limit);
  let left = comparedNames;
  for (const index of indexes) {
    let at = 0;
    for (let place = 0; place < index.ends.length && left > 0; place += 1, left -= 1) {
      const end = index.ends[place] as number;
      const all = end - at;
      let shared = 0;
      for (; at < end; at += 1) shared += isWanted[index.pairs[at] as number] as number;
      if (all > 0) best.offer(index.names[place] as string, (2 * shared) / (pairs.size + all));
      else if (index.odd.has(place)) {
        const name = index.names[place] as string;
        best.offer(name, likenessOf(pairs, pairsOf(name)));
      }
    }
  }
  return best.names;
}

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

/** Two characters of ASCII as one number. */
const pairNumbers = 2 ** 14;

function toNumbers(pairs: ReadonlySet<string>): Uint8Array {
  const isWanted = new Uint8Array(pairNumbers);
  for (const pair of pairs) {
    const [first, second] = [pair.charCodeAt(0), pair.charCodeAt(1)];
    if ((first | second) < 128) isWanted[(first << 7) | second] = 1;
  }
  return isWanted;
}

/** Reads ASCII names, as nearly all are, without making texts of their pairs: five times as fast. */
export function indexNames(all: readonly string[]): NameIndex {
  const names = all.slice(0, comparedNames);
  const pairs = new Uint16Array(names.reduce((sum, name) => sum + Math.min(name.length, comparedCharacters), 0));
  const ends = new Uint32Array(names.length);
  const odd = new Set<number>();
  /** By pair: the number of the last name that had it, so that each counts once in a name. */
  const lastOf = new Uint16Array(pairNumbers);
  let end = 0;
  for (const [place, name] of names.entries()) {
    const start = end;
    let before = 0;
    for (let at = 0; at < Math.min(name.length, comparedCharacters); at += 1) {
      const code = name.charCodeAt(at);
      if (code > 127) {
        odd.add(place);
        end = start;
        break;
      }
      const letter = letterOf(code);
      if (letter === space && before === space) continue;
      const pair = (before << 7) | letter;
      if (before !== 0 && lastOf[pair] !== place + 1) {
        lastOf[pair] = place + 1;
        pairs[end] = pair;
        end += 1;
      }
      before = letter;
    }
    ends[place] = end;
  }
  return { names, pairs: pairs.slice(0, end), ends, odd };
}

const space = 32;

/** Small letters and digits; everything else stands between words. */
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
