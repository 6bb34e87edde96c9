import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { cutPhrases } from "../../../kernel/call/tool-phrases.ts";
import { readSpending, type SpendingRecord } from "./enrichment-budget.ts";

/** Tools that are remembered, here and on disk: 4 MB. Those that no view named for longest go. */
const toolLimit = 20_000;

/** What a model wrote, as one value. Satisfied by `store/`. */
export interface PhraseStore {
  /** What was saved last; undefined when there is nothing, or nothing that can be read. */
  load(): Promise<unknown>;
  save(value: unknown): void;
}

/** Phrases by the hash of a tool's definition. */
export interface WrittenPhrases {
  readonly size: number;
  has(hash: string): boolean;
  get(hash: string): readonly string[];
  add(hash: string, phrases: readonly string[]): void;
  /** What writing them had cost when it was saved last. */
  readonly spent: SpendingRecord;
  /** Saves what was added or spent since the last time, and tells which tools have new phrases. */
  saveFresh(spent: SpendingRecord): ReadonlySet<string>;
}

export async function openWrittenPhrases(store: PhraseStore): Promise<WrittenPhrases> {
  const kept = await store.load();
  const written = readKept(kept);
  let spent = readSpending(isJsonObject(kept) ? kept["spent"] : undefined);
  let fresh = new Set<string>();
  return {
    get size() {
      return written.size;
    },
    has: (hash) => written.has(hash),
    get: (hash) => written.get(hash) ?? [],
    add(hash, phrases) {
      written.set(hash, phrases);
      fresh.add(hash);
      forgetOldest(written);
    },
    get spent() {
      return spent;
    },
    saveFresh(now) {
      const hashes = fresh;
      fresh = new Set();
      if (hashes.size > 0 || now !== spent)
        store.save({ version: 1, phrases: Object.fromEntries(written), spent: now });
      spent = now;
      return hashes;
    },
  };
}

/** Takes the entries that were put in first out of one that has more than are remembered. */
export function forgetOldest(entries: Map<string, unknown>): void {
  for (const key of entries.keys()) {
    if (entries.size <= toolLimit) break;
    entries.delete(key);
  }
}

/** The file may hold anything: values that are no phrases are left out. */
function readKept(value: unknown): Map<string, readonly string[]> {
  const kept = isJsonObject(value) && value["version"] === 1 ? value["phrases"] : undefined;
  const entries = isJsonObject(kept) ? Object.entries(kept).slice(-toolLimit) : [];
  return new Map(
    entries.flatMap(([hash, given]) => {
      const phrases = Array.isArray(given) && /^[0-9a-f]{64}$/.test(hash) ? cutPhrases(given) : [];
      return phrases.length === 0 ? [] : [[hash, phrases]];
    }),
  );
}
