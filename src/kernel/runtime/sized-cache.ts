/** What was used last, up to so many bytes together. */
export interface SizedCache<K, V> {
  get(key: K): V | undefined;
  /** The newest is kept however large it is; those unused for longest give way to it. */
  set(key: K, value: V, bytes: number): void;
  delete(key: K): void;
  keys(): Iterable<K>;
  /** Of everything that is kept. */
  readonly bytes: number;
}

export function createSizedCache<K, V>(byteLimit: number): SizedCache<K, V> {
  const entries = new Map<K, { readonly value: V; readonly bytes: number }>();
  let total = 0;

  function drop(key: K): void {
    total -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      drop(key);
      entries.set(key, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= byteLimit || oldest === key) break;
        drop(oldest);
      }
    },
    delete: drop,
    keys: () => entries.keys(),
    get bytes() {
      return total;
    },
  };
}
