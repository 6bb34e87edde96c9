import { chmodSync, closeSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { migrate, type Migrations } from "./migrate.ts";
import { sqliteCode, sqliteCodes, type SqlDatabase, type SqlDriver } from "./sql-driver.ts";

/** A database that is open, and which file on the disk it was when it was opened. */
export interface SqliteFile {
  readonly database: SqlDatabase;
  readonly path: string;
  /** Whether the file at the path is still the one that is open. */
  isInPlace(): boolean;
  close(): void;
}

export interface SqliteFileOptions {
  readonly driver: SqlDriver;
  /** Absolute. */
  readonly path: string;
  readonly synchronous: "full" | "normal";
  readonly migrations: Migrations;
}

/** The file is not a whole database. */
export class DamagedFile extends Error {
  override readonly name = "DamagedFile";
}

/**
 * How much of a file is looked through when it is opened. A quick_check reads some 250 MB a second, so that this takes
 * two seconds, and cannot be interrupted; in a larger file, damage is found where it is read.
 */
const checkedBytes = 512 * 1_024 * 1_024;
/** Copying more than this before a migration takes longer than people wait for a start. */
const copiedBytes = 256 * 1_024 * 1_024;
const walBytes = 16 * 1_024 * 1_024;

/**
 * Opens a database and brings it up to date; makes it, for its owner alone, where there is none. Rejects with
 * DamagedFile, NewerSchema or what the driver says; the file is closed then, and as it was.
 */
export async function openSqliteFile(options: SqliteFileOptions): Promise<SqliteFile> {
  const { driver, path, migrations } = options;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const database = driver.open(path);
  try {
    prepareConnection(database, options);
    const { size } = statSync(path);
    if (size > 0 && size <= checkedBytes) quickCheck(database);
    await migrate(database, path, migrations, size <= copiedBytes);
    // Of the pages that were read for this, 2 MB would stay; those that are needed are read again.
    database.exec("pragma shrink_memory");
  } catch (error) {
    database.close();
    throw isDamage(error) ? new DamagedFile(error instanceof Error ? error.message : String(error)) : error;
  }
  const opened = fileIdentity(path);
  const wal = fileIdentity(`${path}-wal`);
  return {
    database,
    path,
    isInPlace: () => fileIdentity(path) === opened,
    close() {
      const wasReplaced = fileIdentity(path) !== opened;
      // A driver may keep the file open for statements that are not collected yet, and then leaves the log behind.
      if (!wasReplaced) emptyLog(database);
      database.close();
      // The log of the file that was removed would be played into the one that took its place.
      if (wasReplaced && wal !== undefined && fileIdentity(`${path}-wal`) === wal) removeLogs(path);
    },
  };
}

function prepareConnection(database: SqlDatabase, { path, synchronous }: SqliteFileOptions): void {
  database.exec("pragma busy_timeout = 5000");
  const mode = database.prepare("pragma journal_mode = wal").get()?.["journal_mode"];
  if (mode !== "wal")
    throw new Error(`the file system of ${dirname(path)} cannot hold a database: no write-ahead log (${String(mode)})`);
  database.exec(`pragma synchronous = ${synchronous}`);
  database.exec("pragma foreign_keys = on");
  // Functions cannot be called from the schema of a file that somebody else wrote.
  database.exec("pragma trusted_schema = off");
  database.exec("pragma cell_size_check = on");
  database.exec("pragma mmap_size = 0");
  database.exec(`pragma journal_size_limit = ${walBytes}`);
}

/** Throws DamagedFile when the first thing that is wrong is found. */
export function quickCheck(database: SqlDatabase): void {
  const row = database.prepare("pragma quick_check(1)").get();
  const said = String(row?.["quick_check"]);
  if (said !== "ok") throw new DamagedFile(said.split("\n", 1)[0] ?? "");
}

/** Whether a driver's error says that the file is not a whole database. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return error instanceof DamagedFile || code === sqliteCodes.corrupt || code === sqliteCodes.notDatabase;
}

function emptyLog(database: SqlDatabase): void {
  try {
    database.exec("pragma wal_checkpoint(truncate)");
  } catch {
    // Without room, or of a damaged file: the next to open it does it.
  }
}

function removeLogs(path: string): void {
  for (const log of ["-wal", "-shm"]) rmSync(path + log, { force: true });
}

function fileIdentity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
