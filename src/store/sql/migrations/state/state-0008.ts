import { sql, type Kysely } from "kysely";

/**
 * Logging in at identity providers: the rows that stay of a removed user's identities, which memberships and roles a
 * provider gave, in which login an app was connected, and what may be used only once.
 */
export async function addLoginsElsewhere(db: Kysely<unknown>): Promise<void> {
  // Nothing has written identities before this step.
  await db.schema.dropTable("identity").execute();
  await db.schema
    .createTable("identity")
    .addColumn("issuer", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    // Null once the user was removed: that person does not come back by logging in again.
    .addColumn("user_id", "text", (column) => column.references("user.id").onDelete("set null"))
    .addColumn("label", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addColumn("seen_at_ms", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("identity_place", ["issuer", "subject"])
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("identity_of_user").on("identity").column("user_id").execute();
  for (const [table, column] of [
    ["user", "email"],
    ["user", "role_from"],
    ["membership", "given_by"],
    ["oauth_grant", "via"],
    ["oauth_grant", "sid"],
  ] as const)
    await db.schema
      .alterTable(table)
      .addColumn(column, "text", (text) => text.notNull().defaultTo(""))
      .execute();
  await db.schema
    .createTable("seen_once")
    .addColumn("hash", "text", (column) => column.primaryKey())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}
