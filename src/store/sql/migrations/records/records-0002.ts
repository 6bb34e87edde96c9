import type { Kysely } from "kysely";

/**
 * The trace of a call. Nullable and without an index: it takes a byte in rows that have none, the rows that are there
 * are not touched, and traces are looked for from their own side.
 */
export async function addTraceIds(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("request_log").addColumn("trace_id", "text").execute();
}
