import { renameSync, rmSync, writeFileSync } from "node:fs";
import { Migrator, type Kysely, type Migration, type MigrationProvider } from "kysely";
import type { SqlDatabase } from "./sql-driver.ts";
import { createKysely } from "./sqlite-dialect.ts";

/**
 * A step of the schema. It adds: tables, indexes, and columns that may be left out, so that gateways of versions before
 * it go on beside those that know it. What nothing reads any more is removed by a step of a later version.
 */
export interface Step {
  (db: Kysely<unknown>): Promise<void>;
  /** It does something else: versions that do not know it must not use what it leaves. */
  readonly isBreaking?: true;
}

/** The steps that lead to the tables of today, oldest first. A step that was released is never changed. */
export type Migrations = Readonly<Record<string, Step>>;

export function breaking(up: Step): Step {
  return Object.assign(async (db: Kysely<unknown>) => await up(db), { isBreaking: true as const });
}

/** The database was written by a newer version of this program. */
export class NewerSchema extends Error {
  override readonly name = "NewerSchema";
}

/**
 * Brings the tables up to date: all steps that are missing in one transaction, so that a process killed in the middle
 * leaves the database as it was. Keeps a copy of a database that has something in it as `<path>.before-<steps>`.
 * Rejects with NewerSchema, and changes nothing, when this version must not use what a newer one has made of it.
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
  if (missingSteps(done, readsFromOf(database, done), migrations) === 0) return;
  if (done.length > 0 && copies) keepCopy(database, path, done.length);
  const migrator = new Migrator({ db: createKysely<unknown>(database), provider: toProvider(migrations) });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/**
 * How many steps of this version a database lacks. Throws NewerSchema where it must not be used by this version.
 *
 * @param done the steps that it knows, which may be those of a newer version
 * @param readsFrom the oldest step with which a version may use it; undefined where it says nothing
 */
export function missingSteps(done: readonly string[], readsFrom: string | undefined, migrations: Migrations): number {
  const own = Object.keys(migrations);
  const last = own.at(-1) ?? "";
  if (readsFrom !== undefined && readsFrom > last)
    throw new NewerSchema(`it can be used from schema ${readsFrom} on, and this version knows ${last}`);
  const missing = own.filter((name) => !done.includes(name));
  const unknown = done.filter((name) => !Object.hasOwn(migrations, name));
  if (missing.length > 0 && unknown.length > 0)
    throw new NewerSchema(
      `it has ${unknown.join(", ")}, which this version does not know, without ${missing.join(", ")}`,
    );
  return missing.length;
}

/** The steps, for Kysely. In the transaction of the last, the database is told which versions may use it. */
export function toProvider(migrations: Migrations, finish?: Step): MigrationProvider {
  const steps = Object.entries(migrations);
  const last = steps.at(-1)?.[0];
  const readsFrom = steps.findLast(([, { isBreaking }]) => isBreaking)?.[0];
  const toMigration = ([name, up]: [string, Step]): [string, Migration] => [
    name,
    {
      async up(db) {
        await up(db);
        if (name !== last) return;
        await finish?.(db);
        if (readsFrom !== undefined) await putReadsFrom(db, readsFrom);
      },
    },
  ];
  return { getMigrations: async () => Object.fromEntries(steps.map(toMigration)) };
}

/** The key in `meta` of the oldest step with which a version may use the tables. */
export const readsFromKey = "reads_from";

async function putReadsFrom(db: Kysely<unknown>, value: string): Promise<void> {
  const row = (db as Kysely<{ meta: { key: string; value: string } }>).insertInto("meta");
  const values = row.values({ key: readsFromKey, value });
  await values.onConflict((conflict) => conflict.column("key").doUpdateSet({ value })).execute();
}

/** What a database with these steps says of the versions that may use it. */
export function readsFromOf(database: SqlDatabase, done: readonly string[]): string | undefined {
  if (done.length === 0) return undefined;
  const value = database.prepare("select value from meta where key = ?").get(readsFromKey)?.["value"];
  return typeof value === "string" ? value : undefined;
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
