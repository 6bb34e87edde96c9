import { sql, type Kysely } from "kysely";

/** The first tables of `state.db`: the audit, and what the database knows of itself. */
export async function createState(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("meta")
    .addColumn("key", "text", (column) => column.primaryKey())
    .addColumn("value", "text", (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable("audit")
    .addColumn("seq", "integer", (column) => column.primaryKey())
    .addColumn("at_ms", "integer", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("via", "text", (column) => column.notNull())
    .addColumn("team", "text")
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("object", "text", (column) => column.notNull())
    .addColumn("outcome", "text", (column) => column.notNull())
    .addColumn("ip", "text")
    .addColumn("detail", "text", (column) => column.notNull())
    .addColumn("prev", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}
