import { sql, type Kysely } from "kysely";

/** What gateways of one database tell each other. SQLite has one gateway only, and the table stays empty there. */
export async function createChanges(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("change")
    .addColumn("seq", "integer", (column) => column.primaryKey())
    .addColumn("at_ms", "integer", (column) => column.notNull())
    .addColumn("origin", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("detail", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}

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

/**
 * Whether an admin of the gateway wrote a template's address. Of the templates that are there already, those whose last
 * change was by the owner of the data directory or by somebody who is an admin now: of all others that is not known.
 */
export async function addTemplateMakers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("template")
    .addColumn("by_admin", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  const admins = sql`
    select membership.id from membership join "user" on "user".id = membership.user_id where "user".role = 'admin'`;
  await sql`
    update template set by_admin = 1
    where team_id is null or changed_by in ('owner', 'local') or changed_by in (${admins})`.execute(db);
}

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

/** Tools that members pinned for themselves. They go with the membership. */
export async function createMemberPins(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("member_pins")
    .addColumn("membership_id", "text", (column) => column.primaryKey().references("membership.id").onDelete("cascade"))
    // JSON: a list of paths, or "auto".
    .addColumn("pins", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}

/** The browser and the system that a session is of, so that people can tell theirs apart. Unknown of those before. */
export async function addSessionBrowsers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("browser_session")
    .addColumn("browser", "text", (column) => column.notNull().defaultTo(""))
    .execute();
}

/** Rules of a team about calls of the servers that it installed. */
export async function addTeamRules(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("team")
    .addColumn("rules", "text", (column) => column.notNull().defaultTo(""))
    .execute();
}
