/** A longer name cannot be a misspelling of ours, which are shorter, and comparing it would take quadratic time. */
const longestName = 64;

/**
 * The known name that somebody who wrote `name` probably meant: the same in another spelling, or one that differs by
 * a letter or two.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestName) return undefined;
  const plain = plainForm(name);
  const same = known.find((candidate) => plainForm(candidate) === plain);
  if (same !== undefined) return same;
  const mostEdits = plain.length < 4 ? 0 : plain.length < 8 ? 1 : 2;
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    const other = plainForm(candidate);
    const edits = Math.abs(plain.length - other.length) > mostEdits ? Infinity : editsBetween(plain, other);
    if (edits <= mostEdits && edits < (best?.edits ?? Infinity)) best = { candidate, edits };
  }
  return best?.candidate;
}

/** `; did you mean …?`, or an empty text when nothing is similar. */
export function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : `; did you mean \`${nearest}\`?`;
}

/** `mcp_servers`, `mcp-servers` and `MCPServers` are one name. */
function plainForm(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The number of letters added, left out, replaced, or swapped with their neighbour (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(change, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (beforeLast[j - 2] ?? Infinity) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
