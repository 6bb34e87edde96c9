import { sql, type Kysely } from "kysely";

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
