import { sql, type Kysely } from "kysely";

/** What gateways of one database tell each other. SQLite has one gateway only, and the table stays empty there. */
export async function createChanges(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("change")
    .addColumn("seq", "integer", (column) => column.primaryKey())
    .addColumn("at_ms", "integer", (column) => column.notNull())
    .addColumn("origin", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("detail", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}
