import { readFile } from "node:fs/promises";

import { replaceFile } from "./replace-file.ts";

/** One JSON file that is written whole. */
export interface LearnedFile extends AsyncDisposable {
  /** What was saved last, unchecked; undefined when there is no file or it is no JSON. */
  load(): Promise<unknown>;
  /** Returns at once. While one write runs, only the newest value waits. */
  save(value: unknown): void;
}

/** Most bytes that are read: far above what the memory's own limits allow. */
const sizeLimitBytes = 64 * 1024 * 1024;

/** What was learned from use, on disk: replaced atomically, readable by its owner only (mode 0600). Disposing waits for the last write. */
export function createLearnedFile(path: string, onFailure: (error: unknown) => void): LearnedFile {
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
