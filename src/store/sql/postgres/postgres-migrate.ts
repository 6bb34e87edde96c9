import { Migrator, sql, type Kysely } from "kysely";
import type { Client } from "pg";
import { missingSteps, readsFromKey, toProvider, type Migrations } from "../sqlite/migrate.ts";
import { createPostgresKysely, oneConnection } from "./postgres-dialect.ts";
import { recordsSteps, stateSteps } from "../sqlite/schema-steps.ts";

/** Where the tables of each database of SQLite are: two schemas of one database, because both have a `meta`. */
export const schemaOf = { state: "toolyard_state", records: "toolyard_records" } as const;
type Name = keyof typeof schemaOf;
const stepsOf: Readonly<Record<Name, Migrations>> = { state: stateSteps, records: recordsSteps };
const names = ["state", "records"] as const;

/** Any number that no one else takes: it is the lock of those who migrate. */
const migrationLock = 7_402_886_517;
const oldestServer = 150_000;

/**
 * Brings the tables of both schemas up to date, over a connection of its own, and has each table of a team show only
 * the team's own rows. One gateway does so at a time, and the others wait. A gateway that is killed meanwhile leaves a
 * schema as it was. Rejects with NewerSchema, and changes nothing, when this version must not use what a newer one has
 * made of them. Resolves with how many steps were missing.
 */
export async function migratePostgres(client: Client): Promise<number> {
  const db = createPostgresKysely<unknown>(oneConnection(client));
  await requireServer(db);
  if ((await missing(db)) === 0) return 0;
  await sql`select pg_advisory_lock(${migrationLock}::bigint)`.execute(db);
  try {
    // Another gateway may have done it meanwhile.
    const steps = await missing(db);
    if (steps > 0) for (const name of names) await migrateSchema(client, db, name);
    return steps;
  } finally {
    await sql`select pg_advisory_unlock(${migrationLock}::bigint)`.execute(db).catch(() => undefined);
  }
}

async function requireServer(db: Kysely<unknown>): Promise<void> {
  const text = sql<{ version: string; number: string; encoding: string }>`
    select current_setting('server_version') as version, current_setting('server_version_num') as number,
      current_setting('server_encoding') as encoding`;
  const [row] = (await text.execute(db)).rows;
  if (Number(row?.number) < oldestServer)
    throw new Error(`it is PostgreSQL ${row?.version}, and 15 is the oldest that is supported`);
  if (row?.encoding !== "UTF8") throw new Error(`its encoding is ${row?.encoding}, and UTF8 is needed`);
}

async function missing(db: Kysely<unknown>): Promise<number> {
  let count = 0;
  for (const name of names) {
    const done = await stepsDone(db, name);
    count += missingSteps(done, await readsFromOf(db, name, done), stepsOf[name]);
  }
  return count;
}

async function readsFromOf(db: Kysely<unknown>, name: Name, done: readonly string[]): Promise<string | undefined> {
  if (done.length === 0) return undefined;
  const meta = sql.table(`${schemaOf[name]}.meta`);
  const found = sql<{ value: string }>`select value from ${meta} where key = ${readsFromKey}`;
  return (await found.execute(db)).rows[0]?.value;
}

export async function stepsDone(db: Kysely<unknown>, name: Name): Promise<readonly string[]> {
  const table = `${schemaOf[name]}.kysely_migration`;
  const found = sql<{ isThere: number }>`select to_regclass(${table}) is not null as "isThere"`;
  if ((await found.execute(db)).rows[0]?.isThere !== 1) return [];
  const steps = sql<{ name: string }>`select name from ${sql.table(table)} order by name`;
  return (await steps.execute(db)).rows.map((row) => row.name);
}

async function migrateSchema(client: Client, db: Kysely<unknown>, name: Name): Promise<void> {
  const schema = schemaOf[name];
  await sql`create schema if not exists ${sql.id(schema)}`.execute(db);
  // Each migrator makes a connection its own.
  const own = createPostgresKysely<unknown>(oneConnection(client));
  await sql`set search_path to ${sql.id(schema)}`.execute(own);
  const migrator = new Migrator({
    db: own,
    migrationTableSchema: schema,
    // In the same transaction as the last step: no table is ever there without it.
    provider: toProvider(stepsOf[name], async (trx) => await secureTables(trx, schema)),
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/**
 * Row-level security: a transaction sees rows of the team that `toolyard.team` names, of all teams where it is `*`, and
 * none where nothing was said. Also for the owner of the tables; only superusers see everything, whatever is said.
 */
async function secureTables(db: Kysely<unknown>, schema: string): Promise<void> {
  const columns = sql<{ table: string; column: string }>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = ${schema} and column_name in ('team', 'team_id')`;
  const rows = [...(await columns.execute(db)).rows];
  if (schema === schemaOf.state) rows.push({ table: "team", column: "id" });
  const said = sql`current_setting('toolyard.team', true)`;
  for (const { table, column } of rows)
    await secureTable(db, table, sql`(${said} = '*' or ${sql.ref(column)} = ${said})`);
  if (schema !== schemaOf.state) return;
  const behind = (table: string, column: string, parent: string): ReturnType<typeof sql> => {
    const [own, theirs] = [sql.ref(`${table}.${column}`), sql.ref(`${parent}.id`)];
    return sql`(${said} = '*' or exists (select 1 from ${sql.table(parent)} where ${theirs} = ${own}))`;
  };
  for (const table of ["pat", "personal_config", "oauth_grant", "kept_search", "member_pins"])
    await secureTable(db, table, behind(table, "membership_id", "membership"));
  // What belongs to no grant is of the whole gateway: apps that are registered, logins that have begun, sessions.
  await secureTable(db, "oauth_item", behind("oauth_item", "grant_id", "oauth_grant"));
}

async function secureTable(db: Kysely<unknown>, table: string, condition: ReturnType<typeof sql>): Promise<void> {
  const id = sql.id(table);
  await sql`alter table ${id} enable row level security`.execute(db);
  await sql`alter table ${id} force row level security`.execute(db);
  await sql`drop policy if exists of_team on ${id}`.execute(db);
  await sql`create policy of_team on ${id} using ${condition}`.execute(db);
}
