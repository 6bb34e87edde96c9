/** Only this many characters of a name are compared. */
const comparedCharacters = 80;
/** Only this many candidates are compared: an error must not hold everybody else up. */
const comparedNames = 20_000;
/** What has less in common is not meant. */
const leastLikeness = 0.2;

/** The names most similar to the wanted one, best first, by the share of letter pairs that they have in common. */
export function nearestNames(wanted: string, names: readonly string[], limit: number): string[] {
  const pairs = pairsOf(wanted);
  if (pairs.size === 0) return names.slice(0, limit);
  const likenessTo = createLikeness(pairs);
  const likely: { readonly name: string; readonly likeness: number }[] = [];
  for (const name of names.slice(0, comparedNames)) {
    const likeness = likenessTo(name);
    if (likeness > leastLikeness) likely.push({ name, likeness });
  }
  return likely
    .sort((left, right) => right.likeness - left.likeness || (left.name < right.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Two characters of ASCII as one number. */
const pairNumbers = 2 ** 14;

/** Reads ASCII names, as nearly all are, without making texts of their pairs: five times as fast. */
function createLikeness(pairs: ReadonlySet<string>): (name: string) => number {
  const isWanted = new Uint8Array(pairNumbers);
  for (const pair of pairs) {
    const [first, second] = [pair.charCodeAt(0), pair.charCodeAt(1)];
    if ((first | second) < 128) isWanted[(first << 7) | second] = 1;
  }
  /** By pair: the number of the last name that had it, so that each counts once in a name. */
  const lastOf = new Uint16Array(pairNumbers);
  let number = 0;
  return (name) => {
    number += 1;
    let all = 0;
    let shared = 0;
    let before = 0;
    const end = Math.min(name.length, comparedCharacters);
    for (let at = 0; at < end; at += 1) {
      const code = name.charCodeAt(at);
      if (code > 127) return likenessOf(pairs, pairsOf(name));
      const letter = letterOf(code);
      if (letter === space && before === space) continue;
      const pair = (before << 7) | letter;
      if (before !== 0 && lastOf[pair] !== number) {
        lastOf[pair] = number;
        all += 1;
        shared += isWanted[pair] as number;
      }
      before = letter;
    }
    return (2 * shared) / (pairs.size + all || 1);
  };
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
