/** One line of what happened. */
export interface StreamLine {
  readonly id: string;
  readonly kind: "search" | "call";
  readonly time: string;
  /** Path of a tool, or the words of a search. */
  readonly name: string;
  /** What a search found, or why a call failed. */
  readonly about: string;
  readonly isFailed: boolean;
  readonly durationMs: number;
  readonly tokens: number | null;
  /** How many calls that are alike follow each other, this one the last of them. */
  readonly times: number;
}

/** What one client did, the oldest line first. */
export interface StreamGroup {
  readonly key: string;
  readonly client: string | null;
  readonly principal: string;
  readonly lines: readonly StreamLine[];
}

type Given = Omit<StreamLine, "times"> & { readonly client: string | null; readonly principal: string };

/**
 * By client, the one that did something last first. Calls that are alike are one line, but one that failed is never
 * folded into one that did not. Of each client the last lines are shown.
 */
export function toGroups(given: readonly Given[], mostLines: number): readonly StreamGroup[] {
  const groups = new Map<string, { client: string | null; principal: string; lines: StreamLine[] }>();
  const newest = [...given].sort((one, other) => other.time.localeCompare(one.time));
  for (const { client, principal, ...line } of newest) {
    const key = `${principal} ${client ?? ""}`;
    const group = groups.get(key) ?? { client, principal, lines: [] };
    groups.set(key, group);
    const next = group.lines.at(-1);
    if (next !== undefined && isAlike(next, line))
      group.lines[group.lines.length - 1] = { ...next, times: next.times + 1 };
    else group.lines.push({ ...line, times: 1 });
  }
  return [...groups].map(([key, { lines, ...whose }]) => ({
    key,
    ...whose,
    lines: lines.slice(0, mostLines).reverse(),
  }));
}

function isAlike(one: Omit<StreamLine, "times">, other: Omit<StreamLine, "times">): boolean {
  return one.kind === "call" && other.kind === "call" && one.name === other.name && one.about === other.about;
}
