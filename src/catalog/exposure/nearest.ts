/** Only this many characters of a name are compared. */
const comparedCharacters = 80;
/** Only this many candidates are compared: an error must not cost more than a call. */
const comparedNames = 20_000;

/** The names most similar to the wanted one, best first, by the share of letter pairs that they have in common. */
export function nearestNames(wanted: string, names: readonly string[], limit: number): string[] {
  const pairs = pairsOf(wanted);
  if (pairs.size === 0) return names.slice(0, limit);
  return names
    .slice(0, comparedNames)
    .map((name) => ({ name, likeness: likeness(pairs, name) }))
    .filter(({ likeness: share }) => share > 0.2)
    .sort((left, right) => right.likeness - left.likeness || (left.name < right.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

function likeness(pairs: ReadonlySet<string>, name: string): number {
  const others = pairsOf(name);
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
