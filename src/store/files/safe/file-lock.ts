import { randomUUID } from "node:crypto";
import { sleep } from "../../../kernel/runtime/abort.ts";
import { ageMsOf, createExclusive, isRunning, readIfThere, removeExactly, removeOwn } from "./exclusive-file.ts";

/** Longer than any work under a lock, which is at most one request to an authorization server (15 s) and one write. */
const staleMs = 60_000;
const pollMs = 50;

/**
 * Runs `work` while no other process holds the lock at `path`, which is a file beside what it protects. A lock is taken
 * over when its owner has ended or it is older than a minute. Rejects with the signal's reason when the signal aborts
 * while waiting.
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const mine = `${process.pid} ${randomUUID()}`;
  while (!(await createExclusive(path, mine))) {
    if (!(await removeIfStale(path))) await sleep(pollMs, signal);
  }
  try {
    return await work();
  } finally {
    // It may be another's since a minute ago, and become so at any moment.
    await removeOwn(path, mine);
  }
}

/** False when there is somebody to wait for. */
async function removeIfStale(path: string): Promise<boolean> {
  const seen = await readIfThere(path);
  if (seen === undefined) return false;
  const ageMs = await ageMsOf(path);
  const pid = Number(seen.split(" ", 1)[0]);
  // An empty file was created a moment ago, by an earlier version or where there are no links, and its owner is about
  // to write to it.
  if (ageMs < staleMs && (seen === "" || isRunning(pid))) return false;
  return await removeExactly(path, seen);
}
