import type { Kysely } from "kysely";
import type { ToolMetadata, ToolMetadataRow } from "../../record-rows.ts";
import { prepareQuery, runWith, type RowWriter } from "../row-writer.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

/** The known tools of an installation: the whole list takes the place of the one before. */
export function createToolWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<ToolMetadata> {
  const key = { installation: "", path: "", server: "" };
  const row = { ...key, description: "", schema_hash: "", tokens: 0, discovered_at_ms: 0 };
  const insert = prepareQuery(database, db.insertInto("tool_metadata").values(row).compile());
  const remove = prepareQuery(database, db.deleteFrom("tool_metadata").where("installation", "=", "").compile());
  return {
    write({ installation, server, discoveredAtMs, tools }) {
      runWith(remove, [installation]);
      for (const { path, description, schemaHash, tokens } of tools)
        runWith(insert, [installation, path, server, description, schemaHash, tokens, discoveredAtMs]);
    },
  };
}

export async function readTools(db: Kysely<RecordsTables>, installation: string): Promise<readonly ToolMetadataRow[]> {
  const rows = await db
    .selectFrom("tool_metadata")
    .select(["path", "description", "schema_hash", "tokens"])
    .where("installation", "=", installation)
    .orderBy("path")
    .execute();
  return rows.map(({ schema_hash: schemaHash, ...row }) => ({ ...row, schemaHash }));
}
