import { readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** How many damaged files are kept for people who want to look at them. */
const keptDamaged = 2;

/**
 * Renames a damaged file so that a new one can be made, and returns its new name. A database must be closed: its logs
 * go with it.
 */
export function setAside(path: string, nowMs: number): string {
  const aside = `${path}.damaged-${nowMs}`;
  renameSync(path, aside);
  for (const log of ["-wal", "-shm"]) {
    try {
      renameSync(path + log, aside + log);
    } catch {
      // There is none: it is no database, or the last to close it was in order.
    }
  }
  const pattern = `${basename(path)}.damaged-`;
  const all = readdirSync(dirname(path)).filter((name) => name.startsWith(pattern) && /\d$/.test(name));
  for (const name of all.sort().slice(0, -keptDamaged)) {
    const old = join(dirname(path), name);
    for (const end of ["", "-wal", "-shm"]) rmSync(old + end, { force: true });
  }
  return aside;
}
