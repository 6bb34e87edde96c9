/** How well a name fits the words that were typed: 0 is best, undefined does not fit. */
export function rankOf(words: readonly string[], name: string, about = ""): number | undefined {
  const lower = name.toLowerCase();
  const all = `${lower} ${about.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return undefined;
  const [first = ""] = words;
  if (lower === words.join(" ")) return 0;
  if (lower.startsWith(first)) return 1;
  if (words.every((word) => lower.includes(word)))
    return new RegExp(`[^\\p{L}\\p{N}]${escaped(first)}`, "u").test(lower) ? 2 : 3;
  return 4;
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

/** The best of a list, the best first; those that fit equally well stay in their order. */
export function best<One>(all: readonly One[], rank: (one: One) => number | undefined, most: number): readonly One[] {
  return all
    .flatMap((one) => {
      const place = rank(one);
      return place === undefined ? [] : [{ one, place }];
    })
    .sort((one, other) => one.place - other.place)
    .slice(0, most)
    .map(({ one }) => one);
}
