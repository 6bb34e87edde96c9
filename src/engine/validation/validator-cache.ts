import type { ValidationLimits } from "./schema-limits.ts";

export interface ValidatorCache<Verdict> {
  /** Part of every call: a single look-up. */
  get(hash: string): Verdict | undefined;
  set(hash: string, verdict: Verdict, bytes: number): void;
  delete(hash: string): void;
  readonly size: number;
}

interface Entry<Verdict> {
  readonly verdict: Verdict;
  readonly bytes: number;
  used: boolean;
}

/**
 * Limited by number and by memory in total. Evicts by second chance: reading an entry only marks it, and the oldest
 * unmarked one is dropped first.
 */
export function createValidatorCache<Verdict>(
  limits: Pick<ValidationLimits, "validators" | "totalBytes">,
): ValidatorCache<Verdict> {
  const entries = new Map<string, Entry<Verdict>>();
  let totalBytes = 0;

  function remove(hash: string): void {
    const entry = entries.get(hash);
    if (entry === undefined) return;
    entries.delete(hash);
    totalBytes -= entry.bytes;
  }

  /** Called before an entry is added, so that the new one cannot be dropped itself. */
  function makeRoom(bytes: number): void {
    for (const [hash, entry] of entries) {
      if (entries.size < limits.validators && totalBytes + bytes <= limits.totalBytes) return;
      if (entry.used) {
        entry.used = false;
        entries.delete(hash);
        entries.set(hash, entry);
      } else {
        remove(hash);
      }
    }
  }

  return {
    get size() {
      return entries.size;
    },
    get(hash) {
      const entry = entries.get(hash);
      if (entry === undefined) return undefined;
      entry.used = true;
      return entry.verdict;
    },
    set(hash, verdict, bytes) {
      remove(hash);
      makeRoom(bytes);
      entries.set(hash, { verdict, bytes, used: false });
      totalBytes += bytes;
    },
    delete: remove,
  };
}
