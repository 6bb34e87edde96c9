import { sql, type Kysely } from "kysely";

/** What happens once over all gateways of a database: sealed states that were opened, sessions that ended. */
export async function createClaims(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("claim")
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("seq", "integer", (column) => column.notNull())
    .addColumn("until_ms", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("claim_pk", ["kind", "id"])
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("claim_seq").on("claim").columns(["kind", "seq"]).execute();
  await db.schema.createIndex("claim_until").on("claim").column("until_ms").execute();
}

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
