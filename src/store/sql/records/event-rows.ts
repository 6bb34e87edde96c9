import type { Kysely } from "kysely";
import { recordTables, type EventRecord, type ToolMetadata, type ToolMetadataRow } from "../../record-rows.ts";
import { type EventQuery, type FindingQuery, type FindingRows, mostSessions, type Page } from "../../record-store.ts";
import { putKnownInstance, toKnownInstance } from "../requests/known-instances.ts";
import { filterEqual, floorOf, idRange, readPage } from "../paging.ts";
import { prepareInsert, prepareQuery, type RowWriter, runWith } from "../row-writer.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

export function createEventWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<EventRecord> {
  const insert = prepareInsert(database, db, "event");
  const known = { instance: "", installation: "", seen_ms: 0 };
  const put = prepareQuery(database, putKnownInstance(db, known).compile());
  return {
    write(event) {
      insert(event);
      const found = toKnownInstance(event);
      if (found !== undefined)
        runWith(put, [found.instance, found.installation, found.seen_ms, found.installation, found.seen_ms]);
    },
  };
}

export async function readEvents(db: Kysely<RecordsTables>, query: EventQuery): Promise<Page<EventRecord>> {
  const { team, principal, instance, server, type } = query;
  const filters = { team, principal, instance, server, type };
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const found = idRange(db.selectFrom("event"), "id", query);
  const page = await readPage(query, {
    floor: isFiltered ? floorOf(found, "id") : undefined,
    rows: async (above) =>
      await filterEqual(found, filters)
        .selectAll()
        .where("id", ">", above)
        .orderBy("id", "desc")
        .limit(query.limit)
        .execute(),
  });
  return { next: page.next, rows: page.rows.map(recordTables.event.toRow) };
}

/** The known tools of an installation: the whole list takes the place of the one before. */
export function createToolWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<ToolMetadata> {
  const insert = prepareInsert(database, db, "tool_metadata");
  const remove = prepareQuery(database, db.deleteFrom("tool_metadata").where("installation", "=", "").compile());
  return {
    write({ tools, ...about }) {
      runWith(remove, [about.installation]);
      for (const tool of tools) insert({ ...about, ...tool });
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

export async function readFinding(
  db: Kysely<RecordsTables>,
  { fromMs, dayMs, exposure, principal }: FindingQuery,
): Promise<FindingRows> {
  let sessions = db.selectFrom("finding_session").selectAll().where("started_ms", ">=", fromMs);
  let spent = db.selectFrom("finding_day").selectAll().where("day_ms", "=", dayMs);
  if (principal !== undefined) {
    sessions = sessions.where("principal", "=", principal);
    spent = spent.where("principal", "=", principal);
  }
  const found = await sessions.where("exposure", "=", exposure).orderBy("id", "desc").limit(mostSessions).execute();
  const days = await spent.limit(mostSessions).execute();
  return {
    sessions: found.map(recordTables.finding_session.toRow),
    spent: days.map(recordTables.finding_day.toRow),
  };
}
