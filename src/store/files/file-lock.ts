import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { sleep } from "../../kernel/abort.ts";

/** Longer than any work under a lock, which is at most one request to an authorization server (15 s) and one write. */
const staleMs = 60_000;
const pollMs = 50;

/**
 * Runs `work` while no other process holds the lock at `path`, which is a file beside what it protects. A lock is
 * taken over when its owner is gone or it is older than a minute. Rejects with the signal's reason when the signal
 * aborts while waiting.
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const mine = `${process.pid} ${randomUUID()}`;
  while (!(await tryTake(path, mine))) {
    await removeIfStale(path);
    await sleep(pollMs, signal);
  }
  try {
    return await work();
  } finally {
    if ((await contentOf(path)) === mine) await rm(path, { force: true });
  }
}

async function tryTake(path: string, content: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function removeIfStale(path: string): Promise<void> {
  const seen = await contentOf(path);
  if (seen === undefined) return;
  const ageMs = await stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
  const pid = Number(seen.split(" ")[0]);
  // An empty file was created a moment ago, and its owner is about to write to it.
  if (ageMs < staleMs && (seen === "" || isAlive(pid))) return;
  const aside = `${path}.${randomUUID()}.stale`;
  await rename(path, aside).catch(() => undefined);
  // Between reading and renaming, another process may have done the same and taken the lock. Then the file is now
  // that process's lock, and is put back.
  const moved = await contentOf(aside);
  if (moved !== undefined && moved !== seen) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function contentOf(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
