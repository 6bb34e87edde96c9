import type { Kysely } from "kysely";
import type { EventRecord } from "../record-rows.ts";
import type { EventQuery, Page } from "../record-store.ts";
import { filterEqual, floorOf, idRange, readPage } from "./paging.ts";
import { prepareQuery, runWith, type RowWriter } from "./row-writer.ts";
import type { SqlDatabase } from "./sql-driver.ts";
import type { RecordsTables } from "./tables.ts";

export function createEventWriter(database: SqlDatabase, db: Kysely<RecordsTables>): RowWriter<EventRecord> {
  const about = { team: null, principal: null, installation: null, instance: null, server: null };
  const row = { id: 0, at_ms: 0, type: "", ...about, detail: "" };
  const insert = prepareQuery(database, db.insertInto("event").values(row).compile());
  return {
    write({ id, atMs, type, team, principal, installation, instance, server, detail }) {
      runWith(insert, [id, atMs, type, team, principal, installation, instance, server, detail]);
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
