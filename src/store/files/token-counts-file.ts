import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { TokenCountStore } from "../store.ts";
import { createLearnedFile } from "./learned-file.ts";

/** Increased when the format of the file, or the tokenizer, changes; a file in another format is ignored. */
const format = "o200k_base-1";

/** Counts of tokens in one JSON file, which is replaced atomically. Entries that are no count are skipped. */
export function createTokenCountsFile(path: string, onFailure: (error: unknown) => void): TokenCountStore {
  const file = createLearnedFile(path, onFailure);
  return {
    async load() {
      const kept = await file.load();
      if (!isJsonObject(kept) || kept["format"] !== format || !isJsonObject(kept["counts"])) return undefined;
      return Object.entries(kept["counts"]).filter((entry): entry is [string, number] => isCount(entry[1]));
    },
    save: (counts) => file.save({ format, counts: Object.fromEntries(counts) }),
    [Symbol.asyncDispose]: async () => await file[Symbol.asyncDispose](),
  };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
