import type { JsonObject } from "../../kernel/text/json-bytes.ts";

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

/**
 * Limits of a schema and its checks. Beyond any of them a tool goes unchecked; a call is never refused because of
 * one.
 */
export interface ValidationLimits {
  /** JSON text of one schema, about. The largest of 1,478 real tools has 60 KB. */
  readonly schemaBytes: number;
  /** Validators that are kept. Those that are not used are dropped first. */
  readonly validators: number;
  /** Memory of all validators, because a few large ones take as much as a thousand small ones. */
  readonly totalBytes: number;
  /** Time for one check on the main thread, after which the value counts as unchecked. */
  readonly checkMs: number;
}

export const defaultValidationLimits: ValidationLimits = Object.freeze({
  schemaBytes: 256 * 1024,
  validators: 2_000,
  totalBytes: 16 * 1024 * 1024,
  checkMs: 15,
});

/** Levels of JSON, of which one schema within another takes two. Larger messages do not come in. */
const depthLimit = 256;

/**
 * About as many bytes as the schema has as JSON. Undefined when it is larger than the limit, or deeper. Stops there:
 * JSON.stringify would take 100 ms for a 16 MB schema, and throws at 5,000 levels.
 */
export function measureSchema(schema: JsonObject, sizeLimit: number): number | undefined {
  let size = 0;
  function visit(value: unknown, depth: number): boolean {
    size += typeof value === "string" ? value.length + 2 : 2;
    if (size > sizeLimit || depth > depthLimit) return false;
    if (typeof value !== "object" || value === null) return true;
    if (Array.isArray(value)) return value.every((item) => visit(item, depth + 1));
    // for-in can stop early. Object.entries would copy a million members before the limit is noticed.
    for (const key in value) {
      size += key.length + 3;
      if (!visit((value as JsonObject)[key], depth + 1)) return false;
    }
    return true;
  }
  return visit(schema, 0) ? size : undefined;
}
