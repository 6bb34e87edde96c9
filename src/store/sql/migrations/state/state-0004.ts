import { sql, type Kysely } from "kysely";

/** Logging in: passwords, browser sessions, set-up links, identities, and what the authorization server gave out. */
export async function createAccess(db: Kysely<unknown>): Promise<void> {
  await createAccounts(db);
  await db.schema
    .createTable("oauth_grant")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("membership_id", "text", (column) => column.notNull().references("membership.id").onDelete("cascade"))
    .addColumn("client_id", "text", (column) => column.notNull())
    .addColumn("client_name", "text", (column) => column.notNull())
    .addColumn("scopes", "text", (column) => column.notNull())
    .addColumn("audience", "text", (column) => column.notNull())
    .addColumn("payload", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addColumn("used_at_ms", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("oauth_grant_membership").on("oauth_grant").column("membership_id").execute();
  await db.schema
    .createTable("oauth_item")
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .addColumn("grant_id", "text", (column) => column.references("oauth_grant.id").onDelete("cascade"))
    .addColumn("lookup", "text")
    .addColumn("scopes", "text")
    .addColumn("audience", "text")
    .addColumn("payload", "text", (column) => column.notNull())
    .addColumn("consumed_at_ms", "integer")
    .addColumn("uses", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("oauth_item_place", ["kind", "hash"])
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("oauth_item_grant").on("oauth_item").column("grant_id").execute();
  await db.schema.createIndex("oauth_item_lookup").on("oauth_item").column("lookup").execute();
  await db.schema.createIndex("oauth_item_expiry").on("oauth_item").column("expires_at_ms").execute();
}

async function createAccounts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("password")
    .addColumn("user_id", "text", (column) => column.primaryKey().references("user.id").onDelete("cascade"))
    .addColumn("hash", "text", (column) => column.notNull())
    .addColumn("changed_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema
    .createTable("browser_session")
    .addColumn("hash", "text", (column) => column.primaryKey())
    .addColumn("user_id", "text", (column) => column.notNull().references("user.id").onDelete("cascade"))
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("via", "text", (column) => column.notNull())
    .addColumn("sid", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addColumn("seen_at_ms", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("browser_session_user").on("browser_session").column("user_id").execute();
  await db.schema
    .createTable("setup_link")
    .addColumn("hash", "text", (column) => column.primaryKey())
    .addColumn("user_id", "text", (column) => column.references("user.id").onDelete("cascade"))
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema
    .createTable("identity")
    .addColumn("issuer", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("user_id", "text", (column) => column.notNull().references("user.id").onDelete("cascade"))
    .addColumn("seen_at_ms", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("identity_of_issuer", ["issuer", "subject"])
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("identity_user").on("identity").column("user_id").execute();
}
