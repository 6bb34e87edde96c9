import type { Kysely } from "kysely";
import { prepareQuery, runWith } from "../row-writer.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

interface NewestRows {
  readonly table: "request_body" | "server_log";
  /** How many of each instance are kept. */
  readonly kept: number;
}

/**
 * Takes rows that were just written, and deletes all of their instances but the newest. One look into the index for
 * each instance: counting its rows would take seconds.
 */
export function createForgetting(
  database: SqlDatabase,
  db: Kysely<RecordsTables>,
  { table, kept }: NewestRows,
): (written: readonly { readonly instance: string }[]) => void {
  const older = db
    .deleteFrom(table)
    .where("instance", "=", "")
    .where("id", "<", (inner) =>
      inner
        .selectFrom(table)
        .select("id")
        .where("instance", "=", "")
        .orderBy("id", "desc")
        .limit(1)
        .offset(kept - 1),
    );
  const forget = prepareQuery(database, older.compile());
  return (written) => {
    for (const instance of new Set(written.map((row) => row.instance)))
      runWith(forget, [instance, instance, 1, kept - 1]);
  };
}
