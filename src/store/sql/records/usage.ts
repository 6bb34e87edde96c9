import { sql, type Kysely, type RawBuilder } from "kysely";
import { latencyBoundsMs, recordTables, type UsageHour } from "../../record-rows.ts";
import type { UsageDimension, UsageQuery, UsageSum } from "../../record-store.ts";
import { installationOf, isOfInstallation } from "../requests/known-instances.ts";
import { filterEqual } from "../paging.ts";
import { BadValue, prepareQuery, runWith, type RowWriter } from "../row-writer.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import { bucketColumns, type RecordsTables } from "../tables.ts";

const hourMs = 3_600_000;
export const usageKey = ["hour_ms", "team", "principal", "instance", "tool", "client", "code"] as const;
/** Columns of which the sums are kept. */
export const addedColumns = [
  "calls",
  "duration_ms_sum",
  "argument_tokens",
  "result_tokens",
  "cut",
  ...bucketColumns,
] as const;

/** Counts of an hour are added to those that are there. */
export function createUsageWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<UsageHour> {
  const names = [...recordTables.usage_hour.columns, ...bucketColumns];
  const upsert = db
    .insertInto("usage_hour")
    .values(Object.fromEntries(names.map((name) => [name, 0])) as never)
    .onConflict((conflict) =>
      conflict.columns([...usageKey]).doUpdateSet({
        ...Object.fromEntries(
          addedColumns.map((name) => [name, sql`usage_hour.${sql.ref(name)} + excluded.${sql.ref(name)}`]),
        ),
        duration_ms_max: sql<number>`max(usage_hour.duration_ms_max, excluded.duration_ms_max)`,
      }),
    );
  const statement = prepareQuery(database, upsert.compile());
  return {
    write(row) {
      const { buckets } = row;
      if (buckets.length !== latencyBoundsMs.length + 1) throw new BadValue("it has not as many buckets as there are");
      runWith(statement, [...recordTables.usage_hour.toValues(row), ...buckets]);
    },
  };
}

const dayMs = 24 * hourMs;
const groups: Readonly<Record<UsageDimension, RawBuilder<string | null>>> = {
  hour: sql`cast(hour_ms as text)`,
  day: sql`cast(hour_ms - hour_ms % ${sql.lit(dayMs)} as text)`,
  team: sql`nullif(team, '')`,
  principal: sql`principal`,
  server: sql`server`,
  instance: sql`instance`,
  installation: installationOf("usage_hour"),
  tool: sql`tool`,
  client: sql`nullif(client, '')`,
  code: sql`code`,
};
/** Names of the groups in the answer; there are never more. */
const groupNames = ["g0", "g1", "g2"] as const;

export async function readUsage(db: Kysely<RecordsTables>, query: UsageQuery): Promise<readonly UsageSum[]> {
  const { team, principal, server, instance, installation, tool, client, limit } = query;
  const by = query.by.slice(0, groupNames.length);
  const sum = (name: string): RawBuilder<number> => sql<number>`coalesce(sum(${sql.ref(name)}), 0)`;
  const all = filterEqual(db.selectFrom("usage_hour"), { team, principal, server, instance, tool, client });
  const selected = (installation === undefined ? all : all.where(isOfInstallation("usage_hour", installation)))
    .where("hour_ms", ">=", Math.floor(query.fromMs / hourMs) * hourMs)
    .where("hour_ms", "<", Math.ceil(query.toMs / hourMs) * hourMs)
    .select(addedColumns.map((name) => sum(name).as(name)))
    .select(sql<number>`coalesce(sum(case when code <> '' then calls end), 0)`.as("errors"))
    .select(sql<number>`coalesce(max(duration_ms_max), 0)`.as("duration_ms_max"))
    .select(sql<number>`coalesce(max(hour_ms), 0)`.as("last_hour_ms"))
    .select(by.map((dimension, at) => groups[dimension].as(groupNames[at] ?? "g0")));
  const grouped = by.reduce((builder, dimension) => builder.groupBy(groups[dimension]), selected);
  const isOverTime = by.includes("hour") || by.includes("day");
  const first = isOverTime ? grouped.orderBy(sql`min(hour_ms)`) : grouped.orderBy(sql`sum(calls)`, "desc");
  const ordered = by.reduce((builder, _, at) => builder.orderBy(sql.ref(groupNames[at] ?? "g0")), first);
  const rows = await ordered.limit(limit).execute();
  return rows.filter((row) => by.length > 0 || row.calls > 0).map((row) => toSum(row, by.length));
}

type SumRow = Readonly<Record<(typeof addedColumns)[number] | "errors" | "duration_ms_max" | "last_hour_ms", number>> &
  Readonly<Partial<Record<(typeof groupNames)[number], string | null>>>;

function toSum(row: SumRow, dimensions: number): UsageSum {
  return {
    group: groupNames.slice(0, dimensions).map((name) => row[name] ?? null),
    calls: row.calls,
    errors: row.errors,
    lastHourMs: row.last_hour_ms,
    durationMsSum: row.duration_ms_sum,
    durationMsMax: row.duration_ms_max,
    buckets: bucketColumns.map((name) => row[name]),
    argumentTokens: row.argument_tokens,
    resultTokens: row.result_tokens,
    cut: row.cut,
  };
}
