import { closeSync, fsyncSync, openSync, renameSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";

/**
 * A file that takes room so that it can be given back: on a full disk SQLite cannot even delete. What it frees is for
 * the audit and for deleting; records stop until there is more.
 */
export interface Ballast {
  /** Removes it. */
  free(): void;
  /** Whether there is room enough to go on, with the ballast back in its place. */
  hasRoom(): boolean;
  /** Writes it where it is missing and there is room. */
  fill(): void;
}

export const ballastBytes = 4 * 1_024 * 1_024;
/** The ballast itself, and as much again for records. */
const neededBytes = 2 * ballastBytes;

export function createBallast(path: string, folder: string): Ballast {
  const isThere = (): boolean => statSync(path, { throwIfNoEntry: false })?.size === ballastBytes;
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  return {
    free: () => rmSync(path, { force: true }),
    hasRoom: () => freeBytes() >= neededBytes,
    fill() {
      if (isThere() || freeBytes() < neededBytes) return;
      const unfinished = `${path}.unfinished`;
      try {
        writeBallast(unfinished);
        renameSync(unfinished, path);
      } catch {
        // Somebody else took the room: the next time.
        rmSync(unfinished, { force: true });
      }
    },
  };
}

/** Of bytes that a file system cannot make smaller. */
function writeBallast(path: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    const block = randomBytes(ballastBytes / 16);
    for (let written = 0; written < ballastBytes; written += block.length) writeSync(file, block);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
