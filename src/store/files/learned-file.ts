import { readFile } from "node:fs/promises";
import type { UseMemoryStore } from "../../catalog/discovery/memory-of-use.ts";
import { replaceFile } from "./safe/replace-file.ts";

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
