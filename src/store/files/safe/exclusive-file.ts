import { randomUUID, createHash } from "node:crypto";
import { sleep } from "../../../kernel/runtime/abort.ts";
import { link, readFile, stat, unlink, writeFile } from "node:fs/promises";

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

/** Longer than any work under a permit, which is to read a file and to remove it. */
const abandonedMs = 60_000;

/**
 * Creates a file with all of its content at once, readable by its owner only. Returns false when the file exists.
 * Rejects when the folder cannot be written to.
 */
export async function createExclusive(path: string, text: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await link(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!withoutLinks.has(codeOf(error))) throw error;
    return await createInPlace(path, text);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** Error codes of file systems that do not support hard links. */
const withoutLinks: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK"]);

/**
 * Without links, a reader may see the file half-written and take it for a stale one. That is still better than no
 * lock.
 */
async function createInPlace(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes a file if it says exactly this. Any number of processes may try at the same time, and others may create the
 * file again as soon as it is removed: a newer file stays where it is, and is never away, not even for a moment.
 *
 * Comparing and removing are two steps, and no other process may remove anything between them. A process that wants to
 * remove therefore creates a permit first: a file named after the file to be removed and its text. The permit of a
 * process that died is removed in the same way, with a permit of its own.
 *
 * @returns false when another process is removing it, and the caller may have to wait a moment
 */
export async function removeExactly(path: string, text: string): Promise<boolean> {
  return await removeWithPermit({ lock: path, path, text });
}

/**
 * Removes a file of this process's own, if it still says this. Without room for a permit on the disk, it compares and
 * removes without one: a lock that stays would be in everybody's way.
 */
export async function removeOwn(path: string, text: string): Promise<void> {
  try {
    await removeExactly(path, text);
  } catch {
    if ((await readIfThere(path)) === text) await unlink(path).catch(() => undefined);
  }
}

interface Removal {
  /** The file that all permits are named after. */
  readonly lock: string;
  /** It, or a permit. */
  readonly path: string;
  readonly text: string;
}

async function removeWithPermit({ lock, path, text }: Removal): Promise<boolean> {
  const hash = createHash("sha256").update(`${path}\n${text}`).digest("hex");
  const permit = `${lock}.${hash.slice(0, 32)}.permit`;
  if (await createExclusive(permit, `${process.pid} ${randomUUID()}`)) {
    try {
      if ((await readIfThere(path)) === text) await unlink(path);
    } finally {
      await unlink(permit).catch(() => undefined);
    }
    return true;
  }
  const other = await readIfThere(permit);
  if (other !== undefined && (await isAbandoned(permit, other)))
    await removeWithPermit({ lock, path: permit, text: other });
  return false;
}

async function isAbandoned(permit: string, text: string): Promise<boolean> {
  return !isRunning(Number(text.split(" ", 1)[0])) || (await ageMsOf(permit)) > abandonedMs;
}

/** The file's text; undefined when there is none, or it cannot be read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}

/** Since it was last written; 0 when it is not there. */
async function ageMsOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
}

/** Whether there is a process with this pid, no matter who started it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
