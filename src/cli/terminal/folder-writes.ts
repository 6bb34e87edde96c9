import { watch } from "node:fs";
import { sleep } from "../../kernel/runtime/abort.ts";

/** Watches writes in a folder. Disposing ends it. */
export interface FolderWrites extends Disposable {
  /** Resolves with the next write, at once if there was one since the last pause, and after `mostMs` in any case. */
  pause(mostMs: number, signal: AbortSignal): Promise<void>;
}

/**
 * Watches for files of a folder that are written or replaced, apart from `ignored`. Where the system has no watch to
 * give, each pause takes as long as it may.
 */
export function watchWrites(folder: string, ignored: string): FolderWrites {
  let isWritten = false;
  let next = new AbortController();
  const watcher = openWatch(folder, (name) => {
    if (name === ignored) return;
    isWritten = true;
    next.abort(new Error("written"));
  });
  return {
    async pause(mostMs, signal) {
      if (!isWritten) await sleep(mostMs, AbortSignal.any([signal, next.signal])).catch(() => undefined);
      signal.throwIfAborted();
      isWritten = false;
      next = new AbortController();
    },
    [Symbol.dispose]: () => watcher?.close(),
  };
}

function openWatch(folder: string, onWrite: (name: string | null) => void): ReturnType<typeof watch> | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => onWrite(name));
    return watcher.on("error", () => undefined);
  } catch {
    return undefined;
  }
}
