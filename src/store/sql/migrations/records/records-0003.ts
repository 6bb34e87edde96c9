import { sql, type Kysely } from "kysely";

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
