import type { Kysely } from "kysely";

/** The first line of an error, and the tools that a search found. Nullable: rows that are there are not touched. */
export async function addMessages(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("request_log").addColumn("message", "text").execute();
}
