import { sql, type Kysely } from "kysely";
import { recordTables, type UsageHour } from "../../record-rows.ts";
import type { RowOf } from "../../state-table.ts";
import type { RecordKind, RecordRows } from "../../record-store.ts";
import type { RetentionLimits } from "../requests/retention-limits.ts";
import { isRowsFault } from "./postgres-errors.ts";
import { putKnownInstance, toKnownInstance } from "../requests/known-instances.ts";
import { bucketColumns, type RecordsTables } from "../tables.ts";
import { addedColumns, usageKey } from "../records/usage.ts";

type Db = Kysely<RecordsTables>;
type Tables = typeof recordTables;
type Writers = { readonly [Kind in RecordKind]: (db: Db, rows: readonly RecordRows[Kind][]) => Promise<void> };

/** In one statement: with 26 columns not more values than PostgreSQL takes, which are 65,535. */
const rowsAtOnce = 500;

/**
 * Writes rows of one kind, inside a transaction: all of them at once, or, where the database refuses one, each by
 * itself.
 * Resolves with how many were refused.
 */
export async function writeRecords<Kind extends RecordKind>(
  db: Db,
  {
    kind,
    rows,
    limits,
  }: { readonly kind: Kind; readonly rows: readonly RecordRows[Kind][]; readonly limits: RetentionLimits },
): Promise<number> {
  const write = writersFor(limits)[kind] as (db: Db, rows: readonly RecordRows[Kind][]) => Promise<void>;
  const attempt = async (some: readonly RecordRows[Kind][]): Promise<boolean> => {
    await sql`savepoint batch`.execute(db);
    try {
      for (let from = 0; from < some.length; from += rowsAtOnce) await write(db, some.slice(from, from + rowsAtOnce));
      await sql`release savepoint batch`.execute(db);
      return true;
    } catch (error) {
      if (!isRowsFault(error)) throw error;
      await sql`rollback to savepoint batch`.execute(db);
      return false;
    }
  };
  if (await attempt(rows)) return 0;
  let refused = 0;
  for (const row of rows) if (!(await attempt([row]))) refused += 1;
  return refused;
}

function writersFor(limits: RetentionLimits): Writers {
  return {
    async request(db, rows) {
      await insert(db, "request_log", rows);
      const bodies = rows.flatMap(({ id, instance, body }) => (body === null ? [] : [{ id, instance, ...body }]));
      if (bodies.length === 0) return;
      await insert(db, "request_body", bodies);
      await forgetOlder(db, "request_body", limits.bodies, bodies);
    },
    async log(db, rows) {
      await insert(db, "server_log", rows);
      await forgetOlder(db, "server_log", limits.logLines, rows);
    },
    usage: async (db, rows) => {
      // A key that occurs twice in one statement is refused.
      for (const row of rows) await addUsage(db, row);
    },
    async event(db, rows) {
      await insert(db, "event", rows);
      // One after the other, and the last one counts: a key that occurs twice in one statement is refused.
      const known = new Map(rows.flatMap((row) => toKnownInstance(row) ?? []).map((row) => [row.instance, row]));
      for (const row of known.values()) await putKnownInstance(db, row).execute();
    },
    async tools(db, rows) {
      for (const { tools, ...about } of rows) {
        await db.deleteFrom("tool_metadata").where("installation", "=", about.installation).execute();
        const all = tools.map((tool) => ({ ...about, ...tool }));
        if (all.length > 0) await insert(db, "tool_metadata", all);
      }
    },
    async session(db, rows) {
      for (const row of rows) await replace(db, "finding_session", ["id"], row);
    },
    async spent(db, rows) {
      for (const row of rows) await replace(db, "finding_day", ["day_ms", "life", "principal"], row);
    },
  };
}

async function insert<Name extends keyof Tables>(
  db: Db,
  name: Name,
  rows: readonly RowOf<Tables[Name]>[],
): Promise<void> {
  const values = rows.map((row) => recordTables[name].toKept(row as never));
  await db
    .insertInto(name)
    .values(values as never)
    .execute();
}

/** Deletes all but the newest of each instance that was written for. */
async function forgetOlder(
  db: Db,
  table: "request_body" | "server_log",
  kept: number,
  written: readonly { readonly instance: string }[],
): Promise<void> {
  for (const instance of new Set(written.map((row) => row.instance)))
    await db
      .deleteFrom(table)
      .where("instance", "=", instance)
      .where("id", "<", (inner) =>
        inner
          .selectFrom(table)
          .select("id")
          .where("instance", "=", instance)
          .orderBy("id", "desc")
          .limit(1)
          .offset(kept - 1),
      )
      .execute();
}

async function addUsage(db: Db, row: UsageHour): Promise<void> {
  const buckets = Object.fromEntries(bucketColumns.map((name, at) => [name, row.buckets[at]]));
  await db
    .insertInto("usage_hour")
    .values({ ...recordTables.usage_hour.toKept(row), ...(buckets as Record<(typeof bucketColumns)[number], number>) })
    .onConflict((conflict) =>
      conflict.columns([...usageKey]).doUpdateSet({
        ...Object.fromEntries(
          addedColumns.map((name) => [name, sql`usage_hour.${sql.ref(name)} + excluded.${sql.ref(name)}`]),
        ),
        duration_ms_max: sql<number>`greatest(usage_hour.duration_ms_max, excluded.duration_ms_max)`,
      }),
    )
    .execute();
}

async function replace<Name extends "finding_session" | "finding_day">(
  db: Db,
  table: Name,
  key: readonly (keyof RecordsTables[Name] & string)[],
  given: RowOf<Tables[Name]>,
): Promise<void> {
  const row: Readonly<Record<string, unknown>> = recordTables[table].toKept(given as never);
  const others = Object.keys(row).filter((name) => !key.includes(name as never));
  const values = others.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`);
  const columns = Object.keys(row).map((name) => sql.ref(name));
  await sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(Object.values(row))})
    on conflict (${sql.join(key.map((name) => sql.ref(name)))}) do update set ${sql.join(values)}`.execute(db);
}
