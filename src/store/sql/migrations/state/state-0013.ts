import type { Kysely } from "kysely";

/** The browser and the system that a session is of, so that people can tell theirs apart. Unknown of those before. */
export async function addSessionBrowsers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("browser_session")
    .addColumn("browser", "text", (column) => column.notNull().defaultTo(""))
    .execute();
}
