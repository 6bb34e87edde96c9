import { sql, type Kysely } from "kysely";

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
