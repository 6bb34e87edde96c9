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

/** Servers of teams: templates, what teams installed of them, and what single members set for an installation. */
export async function createInstallations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("template")
    .addColumn("id", "text", (column) => column.primaryKey())
    // Null for one that every team may install.
    .addColumn("team_id", "text", (column) => column.references("team.id").onDelete("cascade"))
    .addColumn("slug", "text", (column) => column.notNull())
    .addColumn("source", "text", (column) => column.notNull())
    .addColumn("transport", "text", (column) => column.notNull())
    .addColumn("entry", "text", (column) => column.notNull())
    .addColumn("fields", "text", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("revision", "integer", (column) => column.notNull())
    .addColumn("changed_by", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema
    .createTable("installation")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("team_id", "text", (column) => column.notNull().references("team.id").onDelete("cascade"))
    // The id of a template, or `file:` and a key of the configuration file: nothing that the database could refer to.
    .addColumn("template_id", "text", (column) => column.notNull())
    .addColumn("template_version", "integer", (column) => column.notNull())
    .addColumn("slug", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("scope", "text", (column) => column.notNull())
    .addColumn("config", "text", (column) => column.notNull())
    .addColumn("locks", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("enabled", "integer", (column) => column.notNull())
    .addColumn("revision", "integer", (column) => column.notNull())
    .addColumn("changed_by", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addUniqueConstraint("installation_of_team", ["team_id", "slug"])
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema
    .createTable("personal_config")
    // Also `file:` and a key, for servers of the configuration file.
    .addColumn("installation_id", "text", (column) => column.notNull())
    .addColumn("membership_id", "text", (column) => column.notNull().references("membership.id").onDelete("cascade"))
    .addColumn("config", "text", (column) => column.notNull())
    .addColumn("revision", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("personal_config_key", ["installation_id", "membership_id"])
    .modifyEnd(sql`strict`)
    .execute();
  await db.schema.createIndex("personal_config_member").on("personal_config").column("membership_id").execute();
}

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
