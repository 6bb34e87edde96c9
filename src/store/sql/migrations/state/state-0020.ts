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
