/**
 * Limit of the text that is used of a server's or a client's own words, such as its name, a reason or an error: more
 * would go unread, and searching many megabytes for secrets would delay all others. Lines of logs have limits of their
 * own.
 */
const longestSaid = 16_384;

/** What looks like a key is known as one long before its end; see `key-patterns.ts`. */
const unsure = 1_024;

/**
 * A text of a peer without secrets, and of a long one the beginning. A secret that the cut goes through is not known by
 * its first characters, so that the last ones before the cut are left out with whatever is in them.
 */
export function redactSaid(text: string, redact: (text: string) => string): string {
  if (text.length <= longestSaid) return redact(text);
  const beginning = redact(text.slice(0, longestSaid));
  return `${beginning.slice(0, Math.max(0, beginning.length - unsure))}… (${text.length} characters)`;
}

/** The same for every text in a value that is long. The same value where none is. */
export function cutTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return value.length > longestSaid ? redactSaid(value, redact) : value;
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  let isSame = true;
  const cut = (part: unknown): unknown => {
    const short = cutTexts(part, redact);
    isSame &&= short === part;
    return short;
  };
  const copy = Array.isArray(value)
    ? value.map(cut)
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [cut(name), cut(member)]));
  return isSame ? value : copy;
}
