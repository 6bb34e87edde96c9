import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SpillStore } from "../store.ts";

/**
 * Texts that are kept for minutes, each in a file of its own that only its owner may read. What an earlier process
 * left there is removed at once.
 */
export function createSpillFiles(folder: string, onFailure: (error: unknown) => void): SpillStore {
  const emptied = rm(folder, { recursive: true, force: true }).catch(onFailure);
  let made: Promise<unknown> | undefined;
  const pathOf = (id: string): string => join(folder, `${id}.txt`);
  return {
    async write(id, text) {
      await (made ??= emptied.then(async () => await mkdir(folder, { recursive: true, mode: 0o700 })));
      // No fsync: it is of no use to a later process.
      await writeFile(pathOf(id), text, { mode: 0o600 });
    },
    read: async (id) => await readFile(pathOf(id)).catch(() => undefined),
    remove(id) {
      if (made !== undefined) rm(pathOf(id), { force: true }).catch(onFailure);
    },
    async [Symbol.asyncDispose]() {
      await emptied;
      if (made === undefined) return;
      await made.catch(() => undefined);
      await rm(folder, { recursive: true, force: true }).catch(onFailure);
    },
  };
}
