import { renameSync, rmSync, writeFileSync } from "node:fs";
import { Migrator, type Kysely } from "kysely";
import type { SqlDatabase } from "./sql-driver.ts";
import { createKysely } from "./sqlite-dialect.ts";

/** The steps that lead to the tables of today, oldest first. A step that was released is never changed. */
export type Migrations = Readonly<Record<string, (db: Kysely<unknown>) => Promise<void>>>;

/** The database was written by a newer version of this program. */
export class NewerSchema extends Error {
  override readonly name = "NewerSchema";
}

/**
 * Brings the tables up to date: all steps that are missing in one transaction, so that a process killed in the middle
 * leaves the database as it was. Keeps a copy of a database that has something in it as `<path>.before-<steps>`.
 * Rejects with NewerSchema, and changes nothing, when the database knows steps that this program does not.
 *
 * @param copies whether a copy is worth its room
 */
export async function migrate(
  database: SqlDatabase,
  path: string,
  migrations: Migrations,
  copies: boolean,
): Promise<void> {
  const done = stepsDone(database);
  refuseNewer(done, migrations);
  if (done.length === Object.keys(migrations).length) return;
  if (done.length > 0 && copies) keepCopy(database, path, done.length);
  const migrator = new Migrator({
    db: createKysely<unknown>(database),
    provider: {
      getMigrations: async () =>
        Object.fromEntries(Object.entries(migrations).map(([name, up]) => [name, { up: async (db) => await up(db) }])),
    },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Throws NewerSchema. */
export function refuseNewer(done: readonly string[], migrations: Migrations): void {
  const unknown = done.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) throw new NewerSchema(`it has ${unknown.join(", ")}, which this version does not know`);
}

/** The steps that a database knows, oldest first; none for one that is not ours. */
export function stepsDone(database: SqlDatabase): readonly string[] {
  const isNew = database.prepare("select 1 from sqlite_schema where name = 'kysely_migration'").get() === undefined;
  if (isNew) return [];
  return database
    .prepare("select name from kysely_migration order by name")
    .all()
    .map((row) => String(row["name"]));
}

/** Under another name until it is whole: one that was left by a killed process is written again. */
function keepCopy(database: SqlDatabase, path: string, steps: number): void {
  const copy = `${path}.before-${steps}`;
  const unfinished = `${copy}.unfinished`;
  rmSync(unfinished, { force: true });
  // An empty file is taken, with its mode.
  writeFileSync(unfinished, "", { mode: 0o600 });
  database.prepare("vacuum into ?").run(unfinished);
  renameSync(unfinished, copy);
}
