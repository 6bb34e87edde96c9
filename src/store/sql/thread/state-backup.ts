import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { DatabaseCheck, DatabaseName, WrittenBackup } from "../../store-upkeep.ts";
import type { DatabaseKeeper } from "../sqlite/database-keeper.ts";
import { missingSteps, NewerSchema, readsFromOf, stepsDone } from "../sqlite/migrate.ts";
import { stateSteps } from "../sqlite/schema-steps.ts";
import type { SqlDatabase, SqlDriver } from "../sqlite/sql-driver.ts";
import { quickCheck } from "../sqlite/sqlite-file.ts";
import { BadBackup } from "../store-refusal.ts";

/**
 * Writes a database as it is at one moment into a file. Under another name until it is whole and on the disk, so that a
 * backup of yesterday is there until today's is. Throws BadBackup where it cannot be written.
 */
export function backUp(database: SqlDatabase, path: string): WrittenBackup {
  const unfinished = `${path}.unfinished`;
  try {
    rmSync(unfinished, { force: true });
    // An empty file is taken, with its mode.
    writeFileSync(unfinished, "", { mode: 0o600, flag: "wx" });
    database.prepare("vacuum into ?").run(unfinished);
    sync(unfinished);
    renameSync(unfinished, path);
    return { path, bytes: statSync(path).size };
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new BadBackup(`${path} cannot be written: ${reasonOf(error)}`);
  }
}

/** Where a backup is while somebody reads it over HTTP. */
export function downloadPath(state: string): string {
  return `${state}.download`;
}

/** Removes what a process that was killed meanwhile left of one: it is a whole copy of the state. Never throws. */
export function removeDownload(state: string): void {
  for (const end of ["", ".unfinished"]) {
    try {
      rmSync(downloadPath(state) + end, { force: true });
    } catch {
      // The state is of more use than its folder is tidy; the next backup is written over it.
    }
  }
}

/**
 * Puts a backup in the place of the state, which is closed meanwhile and kept under another name. The backup itself is
 * only read: a copy of it is checked and opened. Throws BadBackup, and the state is as it was.
 */
export async function restoreState(
  driver: SqlDriver,
  state: DatabaseKeeper<unknown>,
  backup: string,
  nowMs: number,
): Promise<{ readonly kept: string | null }> {
  const { path } = state;
  const copy = `${path}.restored`;
  try {
    copyChecked(driver, backup, copy);
    state.close();
    const kept = existsSync(path) ? `${path}.before-restore-${nowMs}` : null;
    if (kept !== null) renameSync(path, kept);
    // The rest of a log belongs to the file that was there before.
    for (const log of ["-wal", "-shm"]) if (existsSync(path + log)) renameSync(path + log, `${kept ?? path}${log}`);
    renameSync(copy, path);
    return { kept };
  } finally {
    rmSync(copy, { force: true });
    await state.open();
  }
}

function copyChecked(driver: SqlDriver, backup: string, copy: string): void {
  try {
    rmSync(copy, { force: true });
    copyFileSync(backup, copy);
    chmodSync(copy, 0o600);
    const database = driver.open(copy);
    try {
      quickCheck(database);
      const steps = stepsDone(database);
      if (!steps.includes("0001")) throw new Error("it is no backup of Toolyard");
      missingSteps(steps, readsFromOf(database, steps), stateSteps);
      // Records have steps of the same names, and other tables.
      database.prepare("select 1 from audit limit 1").get();
    } finally {
      database.close();
    }
    sync(copy);
  } catch (error) {
    if (error instanceof NewerSchema)
      throw new BadBackup(
        `${backup} was written by a newer version of Toolyard: ${error.message}`,
        "Restore it with that version.",
      );
    throw new BadBackup(`${backup} cannot be restored: ${reasonOf(error)}`);
  }
}

/** Looks through a whole database: at its pages, and at what refers to what. */
export function checkSqlite(
  name: DatabaseName,
  { version }: SqlDriver,
  keeper: Pick<DatabaseKeeper<{ readonly database: SqlDatabase }>, "path" | "problem" | "opened">,
): DatabaseCheck {
  const { path, problem, opened } = keeper;
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const about = { database: name, place: path, engine: `SQLite ${version}`, bytes };
  if (problem !== undefined || opened === undefined)
    return { ...about, steps: [], faults: [problem?.message ?? "it is not open"] };
  const { database } = opened;
  const steps = stepsDone(database);
  try {
    quickCheck(database);
    const lost = database.prepare("pragma foreign_key_check").all();
    const faults = [...new Set(lost.map((row) => `rows of ${String(row["table"])} refer to what is not there`))];
    return { ...about, steps, faults };
  } catch (error) {
    return { ...about, steps, faults: [reasonOf(error)] };
  }
}

function sync(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
