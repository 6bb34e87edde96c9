import { type Kysely, sql } from "kysely";

/**
 * The trace of a call. Nullable and without an index: it takes a byte in rows that have none, the rows that are there
 * are not touched, and traces are looked for from their own side.
 */
export async function addTraceIds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("request_log").addColumn("trace_id", "text").execute();
}

/** Batches of calls whose rows are written later; see `request-backlog.ts`. */
export async function addRequestBacklog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("request_backlog")
    .addColumn("last_id", "integer", (column) => column.primaryKey())
    .addColumn("rows", "integer", (column) => column.notNull())
    .addColumn("text", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}

/**
 * What finding tools saved and cost. Few rows: a session is one, and a day one for each person and each life of a
 * gateway.
 */
export async function createFindingTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("finding_session")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("principal", "text", (column) => column.notNull())
    .addColumn("client", "text")
    .addColumn("exposure", "text", (column) => column.notNull())
    .addColumn("started_ms", "integer", (column) => column.notNull())
    .addColumn("is_lazy", "integer", (column) => column.notNull())
    .addColumn("saved", "integer")
    .addColumn("is_exact", "integer", (column) => column.notNull())
    .addColumn("spent", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  let day = db.schema
    .createTable("finding_day")
    .addColumn("day_ms", "integer", (column) => column.notNull())
    .addColumn("life", "text", (column) => column.notNull())
    .addColumn("principal", "text", (column) => column.notNull());
  for (const name of ["since_ms", "answers", "answer_tokens", "wrapped_calls", "wrapping_tokens"])
    day = day.addColumn(name, "integer", (column) => column.notNull());
  await day
    .addPrimaryKeyConstraint("finding_day_key", ["day_ms", "life", "principal"] as never)
    .modifyEnd(sql`strict, without rowid`)
    .execute();
}

/**
 * To which installation an instance belongs. A row for each instance, instead of a column in the rows of calls and
 * usage: these are many more, and have the instance anyway.
 */
export async function addInstances(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("known_instance")
    .addColumn("instance", "text", (column) => column.primaryKey())
    .addColumn("installation", "text", (column) => column.notNull())
    .addColumn("seen_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema.createIndex("known_instance_installation").on("known_instance").column("installation").execute();
}
