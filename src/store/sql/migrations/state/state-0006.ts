import { sql, type Kysely } from "kysely";

/** Secrets of teams and their members, and the keys that they are sealed with, one per team. */
export async function createVault(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("data_key")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("team_id", "text", (column) => column.notNull().references("team.id").onDelete("cascade"))
    .addColumn("wrapped", "text", (column) => column.notNull())
    // The id of the key that it is wrapped with.
    .addColumn("kek", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("data_key_team").on("data_key").column("team_id").execute();
  await db.schema
    .createTable("secret")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("team_id", "text", (column) => column.notNull().references("team.id").onDelete("cascade"))
    // Null for a secret with a name that the whole team uses.
    .addColumn("installation_id", "text")
    .addColumn("membership_id", "text", (column) => column.references("membership.id").onDelete("cascade"))
    .addColumn("field", "text", (column) => column.notNull())
    .addColumn("sealed", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addColumn("updated_at_ms", "integer", (column) => column.notNull())
    .addColumn("used_at_ms", "integer")
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("secret_team").on("secret").column("team_id").execute();
  await db.schema.createIndex("secret_member").on("secret").column("membership_id").execute();
}
