import { readFile } from "node:fs/promises";
import type { UseMemoryStore } from "../../catalog/discovery/memory-of-use.ts";
import { replaceFile } from "./safe/replace-file.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { KeptUse, NamespaceUsageStore, TokenCountStore } from "../store.ts";

/** The most bytes that are read: far more than the limits of the stored lists allow. */
const sizeLimitBytes = 64 * 1024 * 1024;

/**
 * Stores one value in a JSON file with mode 0600, which is replaced atomically. While a write runs, only the newest
 * value waits to be written. Disposing waits for the last write.
 */
export function createLearnedFile(path: string, onFailure: (error: unknown) => void): UseMemoryStore & AsyncDisposable {
  let waiting: { readonly value: unknown } | undefined;
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (waiting !== undefined) {
      const { value } = waiting;
      waiting = undefined;
      await replaceFile(path, JSON.stringify(value)).catch(onFailure);
    }
    writing = undefined;
  }

  return {
    async load() {
      try {
        const text = await readFile(path, "utf8");
        return text.length > sizeLimitBytes ? undefined : (JSON.parse(text) as unknown);
      } catch (error) {
        if (!isMissing(error)) onFailure(error);
        return undefined;
      }
    },
    save(value) {
      waiting = { value };
      writing ??= writeAll();
    },
    async [Symbol.asyncDispose]() {
      await writing;
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** Increased when the format of the file changes; a file in another format is ignored. */
const format = 1;

/**
 * Stores counts of use in one JSON file, which is replaced atomically. Invalid entries are skipped, because somebody
 * may have edited the file.
 */
export function createNamespaceUsageFile(path: string, onFailure: (error: unknown) => void): NamespaceUsageStore {
  const file = createLearnedFile(path, onFailure);
  return {
    async load() {
      const kept = await file.load();
      if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["uses"])) return undefined;
      return kept["uses"].flatMap((use: unknown) => parseUse(use) ?? []);
    },
    save: (uses) => file.save({ format, uses }),
    [Symbol.asyncDispose]: async () => await file[Symbol.asyncDispose](),
  };
}

function parseUse(use: unknown): KeptUse | undefined {
  if (!isJsonObject(use)) return undefined;
  const { principal, instance, loads, calls, lastUsedAtMs, tools } = use;
  if (
    typeof principal !== "string" ||
    typeof instance !== "string" ||
    !isCount(loads) ||
    !isCount(calls) ||
    !isCount(lastUsedAtMs) ||
    !isJsonObject(tools)
  )
    return undefined;
  const counted = Object.entries(tools).filter((entry): entry is [string, number] => isCount(entry[1]));
  return {
    principal: principal as PrincipalId,
    instance: instance as InstanceId,
    loads,
    calls,
    lastUsedAtMs,
    tools: Object.fromEntries(counted),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** Increased when the format of the file, or the tokenizer, changes; a file in another format is ignored. */
const tokenFormat = "o200k_base-1";

/** Counts of tokens in one JSON file, which is replaced atomically. Entries that are no count are skipped. */
export function createTokenCountsFile(path: string, onFailure: (error: unknown) => void): TokenCountStore {
  const file = createLearnedFile(path, onFailure);
  return {
    async load() {
      const kept = await file.load();
      if (!isJsonObject(kept) || kept["format"] !== tokenFormat || !isJsonObject(kept["counts"])) return undefined;
      return Object.entries(kept["counts"]).filter((entry): entry is [string, number] => isTokenCount(entry[1]));
    },
    save: (counts) => file.save({ format: tokenFormat, counts: Object.fromEntries(counts) }),
    [Symbol.asyncDispose]: async () => await file[Symbol.asyncDispose](),
  };
}

function isTokenCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
