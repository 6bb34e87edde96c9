import { sql, type Kysely } from "kysely";
import { logLevels, recordTables, type ServerLogLine } from "../../record-rows.ts";
import type { LogQuery, Page } from "../../record-store.ts";
import { createForgetting, prepareInsert, type RowWriter } from "../row-writer.ts";
import { filterEqual, floorOf, idRange, readPage } from "../paging.ts";
import { toStorable } from "../row-text.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

/** What servers write: the newest lines of each instance, `kept` of them. */
export function createLogWriter(
  database: SqlDatabase,
  db: Kysely<RecordsTables>,
  kept: number,
): RowWriter<ServerLogLine> {
  return {
    write: prepareInsert(database, db, "server_log"),
    finish: createForgetting(database, db, "server_log", kept),
  };
}

/** A pattern of LIKE in which nothing of the text has a meaning. */
function containing(text = ""): string {
  return `%${toStorable(text).replaceAll(/[!%_]/g, (sign) => `!${sign}`)}%`;
}

export async function readLogs(db: Kysely<RecordsTables>, query: LogQuery): Promise<Page<ServerLogLine>> {
  const { team, instance, instances, server, level, text } = query;
  const found = filterEqual(idRange(db.selectFrom("server_log"), "id", query), { instance });
  const isFiltered = [team, instances, server, level, text].some((filter) => filter !== undefined);
  const page = await readPage(query, {
    floor: isFiltered ? floorOf(found, "id") : undefined,
    rows: async (above) =>
      await filterEqual(found, { team, server })
        .selectAll()
        .$if(instances !== undefined, (lines) => lines.where("instance", "in", instances ?? []))
        // The database has both in small letters: SQLite knows those of ASCII alone, so that others stay what they are.
        .$if(text !== undefined, (lines) =>
          lines.where(sql<boolean>`lower(line) like lower(${containing(text)}) escape '!'`),
        )
        .where("id", ">", above)
        .where("level", ">=", level === undefined ? 0 : logLevels.indexOf(level))
        .orderBy("id", "desc")
        .limit(query.limit)
        .execute(),
  });
  return { next: page.next, rows: page.rows.map(recordTables.server_log.toRow) };
}
