import { sql, type Kysely } from "kysely";

/** The first tables of `state.db`: the audit, and what the database knows of itself. */
export async function createState(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("meta")
    .addColumn("key", "text", (column) => column.primaryKey())
    .addColumn("value", "text", (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable("audit")
    .addColumn("seq", "integer", (column) => column.primaryKey())
    .addColumn("at_ms", "integer", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("via", "text", (column) => column.notNull())
    .addColumn("team", "text")
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("object", "text", (column) => column.notNull())
    .addColumn("outcome", "text", (column) => column.notNull())
    .addColumn("ip", "text")
    .addColumn("detail", "text", (column) => column.notNull())
    .addColumn("prev", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .modifyEnd(sql`strict`)
    .execute();
}

/** People: users, teams, who is in which team, and personal tokens. */
export async function createPeople(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("user")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull().unique())
    .addColumn("role", "text", (column) => column.notNull().check(sql`role in ('admin', 'user')`))
    .addColumn("status", "text", (column) => column.notNull().check(sql`status in ('active', 'disabled')`))
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable("team")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("slug", "text", (column) => column.notNull().unique())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema
    .createTable("membership")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("team_id", "text", (column) => column.notNull().references("team.id").onDelete("cascade"))
    .addColumn("user_id", "text", (column) => column.notNull().references("user.id").onDelete("cascade"))
    .addColumn("role", "text", (column) => column.notNull().check(sql`role in ('owner', 'admin', 'member')`))
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addUniqueConstraint("membership_of_user", ["user_id", "team_id"])
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema.createIndex("membership_team").on("membership").column("team_id").execute();
  await db.schema
    .createTable("pat")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("membership_id", "text", (column) => column.notNull().references("membership.id").onDelete("cascade"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull().unique())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .addColumn("used_at_ms", "integer")
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema.createIndex("pat_membership").on("pat").column("membership_id").execute();
}

/** What tokens are limited to, invitations, limits of teams, and how often a row was changed. */
export async function addRights(db: Kysely<unknown>): Promise<void> {
  for (const table of ["user", "team", "membership"])
    await db.schema
      .alterTable(table)
      .addColumn("revision", "integer", (column) => column.notNull().defaultTo(1))
      .execute();
  await db.schema
    .alterTable("team")
    .addColumn("title", "text", (column) => column.notNull().defaultTo(""))
    .execute();
  await db.schema
    .alterTable("team")
    .addColumn("limits", "text", (column) => column.notNull().defaultTo("{}"))
    .execute();
  await db.schema
    .alterTable("pat")
    .addColumn("scopes", "text", (column) => column.notNull().defaultTo("[]"))
    .execute();
  await db.schema.alterTable("pat").addColumn("only_servers", "text").execute();
  await db.schema
    .createTable("invite")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("team_id", "text", (column) => column.notNull().references("team.id").onDelete("cascade"))
    .addColumn("role", "text", (column) => column.notNull().check(sql`role in ('owner', 'admin', 'member')`))
    .addColumn("about", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull().unique())
    .addColumn("invited_by", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "integer", (column) => column.notNull())
    .addColumn("expires_at_ms", "integer", (column) => column.notNull())
    .addColumn("used_at_ms", "integer")
    .modifyEnd(sql`strict, without rowid`)
    .execute();
  await db.schema.createIndex("invite_team").on("invite").column("team_id").execute();
}
