import { sql, type Kysely } from "kysely";

/**
 * Searches that members keep as tests. They are deleted with the membership, no matter who ends it, also while one is
 * being kept.
 */
export async function createKeptSearches(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("kept_search")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("membership_id", "text", (column) => column.notNull().references("membership.id").onDelete("cascade"))
    .addColumn("query", "text", (column) => column.notNull())
    .addColumn("tool", "text", (column) => column.notNull())
    // Null where the tool was not found.
    .addColumn("rank", "integer")
    .addColumn("kept_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("kept_search_membership").on("kept_search").column("membership_id").execute();
}
