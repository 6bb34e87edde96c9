import { sql, type Kysely } from "kysely";

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
