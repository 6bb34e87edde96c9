import { sql, type Kysely } from "kysely";

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
