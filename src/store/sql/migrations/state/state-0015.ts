import { sql, type Kysely } from "kysely";

/**
 * Calls that wait for a yes and remembered yeses, which gateways of one database share; and the profile that a personal
 * token is for.
 */
export async function addApprovals(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("approval")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("team", "text")
    .addColumn("binding", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("asked_at_ms", "integer", (column) => column.notNull())
    // JSON.
    .addColumn("about", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("approval_binding").on("approval").column("binding").execute();
  await db.schema
    .createTable("approval_grant")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("team", "text")
    .addColumn("made_at_ms", "integer", (column) => column.notNull())
    // JSON.
    .addColumn("about", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema
    .alterTable("pat")
    .addColumn("profile", "text", (column) => column.notNull().defaultTo(""))
    .execute();
}
