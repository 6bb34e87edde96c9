import { sql, type Kysely } from "kysely";

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
