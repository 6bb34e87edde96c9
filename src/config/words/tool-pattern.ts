/**
 * `*` matches any sequence of characters. Takes linear time, because no regular expression is made from configuration.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  return matcherOf(pattern)(name);
}

/** The same for a pattern that is used often. */
export function matcherOf(pattern: string): (name: string) => boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return (name) => pattern === name;
  const last = rest.pop() ?? "";
  if (rest.length === 0)
    return (name) => name.length >= first.length + last.length && name.startsWith(first) && name.endsWith(last);
  return (name) => name.startsWith(first) && hasPieces(name, first.length, rest, last);
}

// oxlint-disable-next-line eslint/max-params -- called for every name
function hasPieces(name: string, from: number, pieces: readonly string[], last: string): boolean {
  let at = from;
  for (const piece of pieces) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
