import { sql, type Insertable, type Kysely } from "kysely";
import { logLevels, type RequestRecord, type ServerLogLine, type UsageHour } from "../../record-rows.ts";
import type { RecordKind, RecordRows } from "../../record-store.ts";
import type { RetentionLimits } from "../requests/retention-limits.ts";
import { isRowsFault } from "./postgres-errors.ts";
import { putKnownInstance, toKnownInstance } from "../requests/known-instances.ts";
import { requestColumns, toRequestValues } from "../requests/request-log.ts";
import { bucketColumns, type RecordsTables } from "../tables.ts";
import { addedColumns, usageKey } from "../records/usage.ts";

type Db = Kysely<RecordsTables>;
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
      await db.insertInto("request_log").values(rows.map(toRequestRow)).execute();
      const bodies = rows.flatMap(({ id, instance, body }) => (body === null ? [] : [{ id, instance, ...body }]));
      if (bodies.length === 0) return;
      await db
        .insertInto("request_body")
        .values(
          bodies.map(({ areArgumentsCut, isResultCut, ...row }) => ({
            ...row,
            arguments_cut: Number(areArgumentsCut),
            result_cut: Number(isResultCut),
          })),
        )
        .execute();
      await forgetOlder(db, "request_body", limits.bodies, bodies);
    },
    async log(db, rows) {
      await db.insertInto("server_log").values(rows.map(toLogRow)).execute();
      await forgetOlder(db, "server_log", limits.logLines, rows);
    },
    usage: async (db, rows) => {
      // A key that occurs twice in one statement is refused.
      for (const row of rows) await addUsage(db, row);
    },
    async event(db, rows) {
      const values = rows.map(({ atMs, ...row }) => ({ ...row, at_ms: atMs }));
      await db.insertInto("event").values(values).execute();
      // One after the other, and the last one counts: a key that occurs twice in one statement is refused.
      const known = new Map(rows.flatMap((row) => toKnownInstance(row) ?? []).map((row) => [row.instance, row]));
      for (const row of known.values()) await putKnownInstance(db, row).execute();
    },
    async tools(db, rows) {
      for (const { installation, server, discoveredAtMs, tools } of rows) {
        await db.deleteFrom("tool_metadata").where("installation", "=", installation).execute();
        const about = { installation, server, discovered_at_ms: discoveredAtMs };
        const values = tools.map(({ schemaHash, ...tool }) => ({ ...about, ...tool, schema_hash: schemaHash }));
        if (values.length > 0) await db.insertInto("tool_metadata").values(values).execute();
      }
    },
    async session(db, rows) {
      for (const { startedMs, isLazy, isExact, ...row } of rows)
        await replace(db, "finding_session", ["id"], {
          ...row,
          started_ms: startedMs,
          is_lazy: Number(isLazy),
          is_exact: Number(isExact),
        });
    },
    async spent(db, rows) {
      for (const { dayMs, life, principal, sinceMs, answers, ...counts } of rows)
        await replace(db, "finding_day", ["day_ms", "life", "principal"], {
          day_ms: dayMs,
          life,
          principal,
          since_ms: sinceMs,
          answers,
          answer_tokens: counts.answerTokens,
          wrapped_calls: counts.wrappedCalls,
          wrapping_tokens: counts.wrappingTokens,
        });
    },
  };
}

function toRequestRow(record: RequestRecord): Insertable<RecordsTables["request_log"]> {
  const values = toRequestValues(record).map((value) => (typeof value === "boolean" ? Number(value) : value));
  return Object.fromEntries(requestColumns.map((name, at) => [name, values[at]])) as never;
}

function toLogRow({ id, atMs, team, instance, server, level, line }: ServerLogLine): RecordsTables["server_log"] {
  return { id, at_ms: atMs, team, instance, server, level: logLevels.indexOf(level), line };
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
  const key = { hour_ms: row.hourMs, team: row.team ?? "", principal: row.principal, instance: row.instance };
  const sums = { calls: row.calls, duration_ms_sum: row.durationMsSum, duration_ms_max: row.durationMsMax };
  const buckets = Object.fromEntries(bucketColumns.map((name, at) => [name, row.buckets[at]])) as never;
  await db
    .insertInto("usage_hour")
    .values({
      ...key,
      tool: row.tool,
      client: row.client ?? "",
      code: row.code,
      server: row.server,
      ...sums,
      argument_tokens: row.argumentTokens,
      result_tokens: row.resultTokens,
      cut: row.cut,
      ...(buckets as Record<(typeof bucketColumns)[number], number>),
    })
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

async function replace<Table extends "finding_session" | "finding_day">(
  db: Db,
  table: Table,
  key: readonly (keyof RecordsTables[Table] & string)[],
  row: RecordsTables[Table],
): Promise<void> {
  const others = Object.keys(row).filter((name) => !key.includes(name as never));
  const values = others.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`);
  const columns = Object.keys(row).map((name) => sql.ref(name));
  await sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(Object.values(row))})
    on conflict (${sql.join(key.map((name) => sql.ref(name)))}) do update set ${sql.join(values)}`.execute(db);
}
