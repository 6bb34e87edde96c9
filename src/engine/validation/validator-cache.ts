import type { ValidationLimits } from "./schema-limits.ts";
import type { Validator } from "./validator.ts";

/** What is known of a schema. `unvalidated`: it cannot be compiled safely, so its values are not checked. */
export type Verdict = Validator | "unvalidated";

export interface ValidatorCache {
  /** Part of every call: a single look-up. */
  get(hash: string): Verdict | undefined;
  set(hash: string, verdict: Verdict, codeBytes: number): void;
  delete(hash: string): void;
  clear(): void;
  readonly size: number;
}

interface Entry {
  readonly verdict: Verdict;
  readonly codeBytes: number;
  used: boolean;
}

/**
 * Limited by number and by total code size. Evicts by second chance: reading an entry only marks it, and the oldest
 * unmarked one is dropped first.
 */
export function createValidatorCache(limits: Pick<ValidationLimits, "validators" | "totalCodeBytes">): ValidatorCache {
  const entries = new Map<string, Entry>();
  let totalBytes = 0;

  function remove(hash: string): void {
    const entry = entries.get(hash);
    if (entry === undefined) return;
    entries.delete(hash);
    totalBytes -= entry.codeBytes;
  }

  /** Called before an entry is added, so that the new one cannot be dropped itself. */
  function makeRoom(codeBytes: number): void {
    for (const [hash, entry] of entries) {
      if (entries.size < limits.validators && totalBytes + codeBytes <= limits.totalCodeBytes) return;
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
    set(hash, verdict, codeBytes) {
      remove(hash);
      makeRoom(codeBytes);
      entries.set(hash, { verdict, codeBytes, used: false });
      totalBytes += codeBytes;
    },
    delete: remove,
    clear() {
      entries.clear();
      totalBytes = 0;
    },
  };
}
