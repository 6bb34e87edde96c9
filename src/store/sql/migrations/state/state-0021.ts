import { sql, type Kysely } from "kysely";

/** What gateways of one database share that belongs to people: logins at servers, tokens for one instance, browsers. */
export async function addShared(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("shared_item")
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("team", "text")
    .addColumn("about", "text", (column) => column.notNull())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("shared_item_key", ["kind", "id"])
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("shared_item_expiry").on("shared_item").column("expires_at_ms").execute();
  await db.schema
    .createTable("attempt")
    .addColumn("key", "text", (column) => column.primaryKey())
    .addColumn("count", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}
