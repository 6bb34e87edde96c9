import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { KeptUse } from "../../store/store.ts";

/**
 * How often one principal used one namespace. Decides the order of eviction, and which namespaces are loaded after the
 * next start.
 */
export interface NamespaceUse {
  readonly loads: number;
  readonly calls: number;
  /** Wall clock. */
  readonly lastUsedAtMs: number;
  readonly tools: ReadonlyMap<string, number>;
}

export interface NamespaceUsage {
  countLoad(principal: PrincipalId, instance: InstanceId, atMs: number): void;
  countCall(principal: PrincipalId, instance: InstanceId, tool: string, atMs: number): void;
  get(principal: PrincipalId, instance: InstanceId): NamespaceUse | undefined;
  of(principal: PrincipalId): ReadonlyMap<InstanceId, NamespaceUse>;
  /** Adds what was stored to what has been counted since the start. */
  adopt(uses: readonly KeptUse[]): void;
  snapshot(): readonly KeptUse[];
}

/**
 * Principals, namespaces of each, and tools of each. Beyond these, the one that has been unused for longest is
 * forgotten.
 */
const mostPrincipals = 1_000;
const mostNamespaces = 1_000;
const mostTools = 1_000;
/**
 * All counts are halved when one reaches this value, so that heavy use last year does not outweigh this week's for
 * ever.
 */
const halveAt = 10_000;

interface Counts {
  loads: number;
  calls: number;
  lastUsedAtMs: number;
  readonly tools: Map<string, number>;
}

/** Begins with no counts. */
export function createNamespaceUsage(): NamespaceUsage {
  const principals = new Map<PrincipalId, Map<InstanceId, Counts>>();

  function countsOf(principal: PrincipalId, instance: InstanceId): Counts {
    const namespaces = entryOf(principals, principal, {
      most: mostPrincipals,
      rank: lastUseOf,
      make: () => new Map<InstanceId, Counts>(),
    });
    return entryOf(namespaces, instance, {
      most: mostNamespaces,
      rank: (counts) => counts.lastUsedAtMs,
      make: () => ({ loads: 0, calls: 0, lastUsedAtMs: 0, tools: new Map() }),
    });
  }

  function grow(principal: PrincipalId, counts: Counts, atMs: number): void {
    counts.lastUsedAtMs = Math.max(counts.lastUsedAtMs, atMs);
    if (counts.loads + counts.calls < halveAt) return;
    for (const other of principals.get(principal)?.values() ?? []) {
      other.loads = Math.floor(other.loads / 2);
      other.calls = Math.floor(other.calls / 2);
    }
  }

  return {
    countLoad(principal, instance, atMs) {
      const counts = countsOf(principal, instance);
      counts.loads += 1;
      grow(principal, counts, atMs);
    },
    countCall(principal, instance, tool, atMs) {
      const counts = countsOf(principal, instance);
      counts.calls += 1;
      const before = counts.tools.get(tool);
      if (before === undefined && counts.tools.size >= mostTools)
        counts.tools.delete(leastOf(counts.tools, (count) => count));
      counts.tools.set(tool, (before ?? 0) + 1);
      grow(principal, counts, atMs);
    },
    get: (principal, instance) => principals.get(principal)?.get(instance),
    of: (principal) => principals.get(principal) ?? new Map(),
    adopt(uses) {
      for (const use of uses) {
        const counts = countsOf(use.principal, use.instance);
        counts.loads += use.loads;
        counts.calls += use.calls;
        counts.lastUsedAtMs = Math.max(counts.lastUsedAtMs, use.lastUsedAtMs);
        for (const [tool, count] of Object.entries(use.tools).slice(0, mostTools))
          counts.tools.set(tool, (counts.tools.get(tool) ?? 0) + count);
      }
    },
    snapshot: () =>
      [...principals].flatMap(([principal, namespaces]) =>
        [...namespaces].map(([instance, { loads, calls, lastUsedAtMs, tools }]) => ({
          principal,
          instance,
          loads,
          calls,
          lastUsedAtMs,
          tools: Object.fromEntries(tools),
        })),
      ),
  };
}

interface Making<Value> {
  /** The most entries that are kept. */
  readonly most: number;
  /** The entry with the lowest rank is dropped first. */
  readonly rank: (value: Value) => number;
  readonly make: () => Value;
}

/**
 * Returns the entry, and creates it when it does not exist, which may drop the one with the lowest rank. Reading an
 * entry does not change the map's order.
 */
function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, { most, rank, make }: Making<Value>): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  if (map.size >= most) map.delete(leastOf(map, rank));
  const value = make();
  map.set(key, value);
  return value;
}

function leastOf<Key, Value>(map: ReadonlyMap<Key, Value>, rank: (value: Value) => number): Key {
  return [...map].reduce((least, other) => (rank(other[1]) < rank(least[1]) ? other : least))[0];
}

function lastUseOf(namespaces: ReadonlyMap<unknown, Counts>): number {
  return Math.max(0, ...[...namespaces.values()].map((counts) => counts.lastUsedAtMs));
}
