import type { Kysely, SelectQueryBuilder } from "kysely";
import { recordTables, type RequestBody, type RequestRecord } from "../../record-rows.ts";
import type { CallQuery, CallRow, ErasedCalls, KeptRequest, Page } from "../../record-store.ts";
import { installationOf, isOfInstallation } from "./known-instances.ts";
import {
  createForgetting,
  createManyRows,
  prepareInsert,
  prepareQuery,
  toInsert,
  type RowWriter,
} from "../row-writer.ts";
import { filterEqual, floorOf, idRange, readPage } from "../paging.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

const { request_log, request_body } = recordTables;

/** In one statement, which takes two thirds of the time of so many. */
const manyRows = 50;

/** Calls, and what was said in them: of the latter the newest of each instance are kept, `bodies` of them. */
export function createRequestWriter(
  database: SqlDatabase,
  db: Kysely<RecordsTables>,
  bodies: number,
): RowWriter<RequestRecord> {
  const insert = prepareInsert(database, db, "request_log");
  const insertMany = createManyRows(
    prepareQuery(database, toInsert(db, "request_log", { rows: manyRows })),
    request_log.columns.length,
  );
  const insertBody = prepareInsert(database, db, "request_body");
  const forget = createForgetting(database, db, "request_body", bodies);

  function writeBody({ id, instance, body }: RequestRecord): void {
    if (body !== null) insertBody({ id, instance, ...body });
  }

  function write(record: RequestRecord): void {
    insert(record);
    writeBody(record);
  }

  return {
    write,
    writeAll(records) {
      const whole = records.length - (records.length % manyRows);
      for (let from = 0; from < whole; from += manyRows) {
        const some = records.slice(from, from + manyRows);
        insertMany(some.flatMap(request_log.toValues));
        for (const record of some) writeBody(record);
      }
      for (const record of records.slice(whole)) write(record);
    },
    finish(records) {
      forget(records.filter(({ body }) => body !== null));
    },
  };
}

type Calls = SelectQueryBuilder<RecordsTables, "request_log", object>;

export async function readCalls(db: Kysely<RecordsTables>, query: CallQuery): Promise<Page<CallRow>> {
  const { indexed, others } = splitFilters(query);
  const found = (from: Calls): Calls => filterCalls(idRange(from, "id", query), indexed);
  const page = await readPage(query, {
    floor: Object.keys(others).length === 0 ? undefined : floorOf(found(db.selectFrom("request_log")), "id"),
    rows: async (above) =>
      await filterCalls(found(db.selectFrom("request_log")), others)
        .selectAll("request_log")
        .select(installationOf("request_log").as("installation"))
        .select((inner) =>
          inner
            .exists(inner.selectFrom("request_body").select("id").whereRef("request_body.id", "=", "request_log.id"))
            .as("has_body"),
        )
        .where("id", ">", above)
        .orderBy("id", "desc")
        .limit(query.limit)
        .execute(),
  });
  return {
    next: page.next,
    rows: page.rows.map((row) => ({
      ...request_log.toRow(row),
      installation: row.installation,
      hasBody: Boolean(row.has_body),
    })),
  };
}

/**
 * Erases one page of the calls that fit, with what was said in them. The latter first: whatever interrupts it leaves no
 * words of a call that is erased.
 */
export async function eraseCalls(db: Kysely<RecordsTables>, query: CallQuery): Promise<ErasedCalls> {
  const { rows, next } = await readCalls(db, query);
  const ids = rows.map(({ id }) => id);
  for (const table of ["request_body", "request_log"] as const)
    if (ids.length > 0) await db.deleteFrom(table).where("id", "in", ids).execute();
  return { erased: ids.length, next };
}

type Filters = Pick<
  CallQuery,
  | ("team" | "principal" | "server" | "instance" | "installation" | "tool" | "client" | "node")
  | ("outcome" | "code" | "failed")
>;

const indexedFilters: ReadonlySet<string> = new Set(["instance", "installation", "principal"]);

/** The one filter that an index finds, and those that every row found has to be looked at for. */
function splitFilters(query: CallQuery): { readonly indexed: Filters; readonly others: Filters } {
  const { team, principal, server, instance, installation, tool, client, node, outcome, code, failed } = query;
  const rest = { team, server, tool, client, node, outcome, code };
  const all = Object.entries({ instance, installation, principal, failed, ...rest });
  const given = all.filter(([, value]) => value !== undefined);
  const place = given.findIndex(([name, value]) => indexedFilters.has(name) || (name === "failed" && value === true));
  const isIndexed = (at: number): boolean => at === place;
  return {
    indexed: Object.fromEntries(given.filter((_, at) => isIndexed(at))) as Filters,
    others: Object.fromEntries(given.filter((_, at) => !isIndexed(at))) as Filters,
  };
}

function filterCalls(from: Calls, { failed, tool, installation, ...equal }: Filters): Calls {
  const named = filterEqual(from, { ...equal, name: tool });
  const filtered = installation === undefined ? named : named.where(isOfInstallation("request_log", installation));
  if (failed === undefined) return filtered;
  return filtered.where("outcome", failed ? "<>" : "=", "ok");
}

export async function readCall(db: Kysely<RecordsTables>, id: number): Promise<KeptRequest | undefined> {
  const row = await db
    .selectFrom("request_log")
    .selectAll("request_log")
    .select(installationOf("request_log").as("installation"))
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const body = await db.selectFrom("request_body").selectAll().where("id", "=", id).executeTakeFirst();
  return {
    ...request_log.toRow(row),
    installation: row.installation,
    body: body === undefined ? null : toBody(body),
  };
}

function toBody(kept: RecordsTables["request_body"]): RequestBody {
  const { id: _id, instance: _instance, ...body } = request_body.toRow(kept);
  return body;
}
