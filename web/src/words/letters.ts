const hues = 8;

/** The first letters of the first two words of a name, or its first two: `Cd` for `chrome-devtools`, `Gi` for `git`. */
export function lettersOf(name: string): string {
  const [first = [], second] = name
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => Array.from(word));
  return `${first[0]?.toUpperCase() ?? "?"}${(second?.[0] ?? first[1] ?? "").toLowerCase()}`;
}

/** The same name has the same hue everywhere. */
export function hueOf(name: string): number {
  let sum = 7;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return sum % hues;
}
