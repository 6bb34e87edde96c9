import type { SharedItem, SharedItems, SharedKind } from "../shared.ts";
import type { BrowserSessionRecord, InstanceTokenRecord, SharedListStore } from "../store.ts";

/** So many are written at once: a list of a gateway that gets a database may be long. */
const mostAtOnce = 200;
/** Of made-up ids, which anybody can send: those beyond are taken for unknown, and nothing else waits for them. */
const mostLooks = 8;

export interface SharedListOptions<Kept> {
  readonly items: SharedItems;
  readonly kind: SharedKind;
  readonly idOf: (record: Kept) => string;
  /** Undefined for a value that is no record: it counts as absent. */
  readonly parse: (value: unknown) => Kept | undefined;
  /** When it is worth nothing any more; absent: never. */
  readonly endOf?: (record: Kept) => number;
  readonly teamOf: (record: Kept) => string | null;
  /** It cannot be read, or is damaged. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * A list that all gateways of a database have in memory, kept by each of its records: what one of them adds or removes
 * is in that of the others within a second. Rejects with STORE_UNAVAILABLE where it cannot be read.
 */
export async function openSharedList<Kept extends InstanceTokenRecord | BrowserSessionRecord>(
  options: SharedListOptions<Kept>,
): Promise<SharedListStore<Kept>> {
  const { items, kind, idOf, onFailure } = options;
  const known = new Map<string, Kept>();
  const listeners = new Set<() => void>();
  let looking = 0;
  let failures = 0;

  function take(found: readonly SharedItem[], ids: readonly string[] | undefined): void {
    const before = [...known.keys()];
    for (const id of ids ?? before) known.delete(id);
    for (const item of found) {
      const record = parseItem(item, options);
      if (record !== undefined) known.set(item.id, record);
    }
  }

  async function reread(ids?: readonly string[]): Promise<void> {
    take(await items.read(kind, ids), ids);
    failures = 0;
    for (const listener of listeners) listener();
  }

  /** Where it fails, everything is read again: what was told once is not told again. */
  function follow(ids?: readonly string[]): void {
    reread(ids).catch((error: unknown) => {
      failures += 1;
      if (failures === 1) onFailure(error);
      setTimeout(follow, againMs).unref();
    });
  }

  // Before it is read, so that changes made meanwhile are told.
  const stop = items.onChange(kind, follow);
  try {
    take(await items.read(kind), undefined);
  } catch (error) {
    stop();
    throw error;
  }

  return {
    read: () => [...known.values()],
    async write({ added = [], changed = [], removed = [] }) {
      const toItems = (records: readonly Kept[]) => records.map((record) => toItem(idOf(record), record, options));
      const keys = removed.map((record) => ({ kind, id: idOf(record) }));
      for (let at = 0; at === 0 || at < added.length; at += mostAtOnce) {
        const part = { items: toItems(added.slice(at, at + mostAtOnce)) };
        await items.write(at === 0 ? { ...part, oldItems: toItems(changed), gone: keys } : part);
      }
      for (const record of added) known.set(idOf(record), record);
      for (const record of changed) if (known.has(idOf(record))) known.set(idOf(record), record);
      for (const { id } of keys) known.delete(id);
    },
    async look(id) {
      if (known.has(id) || looking >= mostLooks) return;
      looking += 1;
      try {
        const found = await items.read(kind, [id]);
        if (found.length === 0) return;
        take(found, [id]);
        for (const listener of listeners) listener();
      } finally {
        looking -= 1;
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const againMs = 1_000;

function toItem<Kept>(id: string, record: Kept, { kind, teamOf, endOf }: SharedListOptions<Kept>): SharedItem {
  const expiresAtMs = endOf?.(record) ?? Number.MAX_SAFE_INTEGER;
  return { kind, id, team: teamOf(record), about: JSON.stringify(record), expiresAtMs };
}

/** One that is damaged is no one's, and the others hold. */
function parseItem<Kept>({ id, about }: SharedItem, options: SharedListOptions<Kept>): Kept | undefined {
  try {
    const record = options.parse(JSON.parse(about));
    if (record !== undefined && options.idOf(record) === id) return record;
    throw new Error("it is not what it has to be");
  } catch (error) {
    options.onFailure(new Error(`the row ${options.kind} ${id.slice(0, 16)} is damaged`, { cause: error }));
    return undefined;
  }
}
