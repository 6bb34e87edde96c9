import { sql, type Kysely } from "kysely";

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
