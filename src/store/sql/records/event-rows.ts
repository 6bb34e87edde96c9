import type { Kysely } from "kysely";
import type { EventRecord } from "../../record-rows.ts";
import type { EventQuery, Page } from "../../record-store.ts";
import { putKnownInstance, toKnownInstance } from "../requests/known-instances.ts";
import { filterEqual, floorOf, idRange, readPage } from "../paging.ts";
import { prepareQuery, runWith, type RowWriter } from "../row-writer.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

export function createEventWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<EventRecord> {
  const about = { team: null, principal: null, installation: null, instance: null, server: null };
  const row = { id: 0, at_ms: 0, type: "", ...about, detail: "" };
  const insert = prepareQuery(database, db.insertInto("event").values(row).compile());
  const known = { instance: "", installation: "", seen_ms: 0 };
  const put = prepareQuery(database, putKnownInstance(db, known).compile());
  return {
    write(event) {
      const { id, atMs, type, team, principal, installation, instance, server, detail } = event;
      runWith(insert, [id, atMs, type, team, principal, installation, instance, server, detail]);
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
  return { next: page.next, rows: page.rows.map(({ at_ms: atMs, ...row }) => ({ ...row, atMs })) };
}
