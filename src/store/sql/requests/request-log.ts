import type { Kysely, SelectQueryBuilder } from "kysely";
import type { RequestOutcome, RequestRecord } from "../../record-rows.ts";
import type { CallQuery, CallRow, ErasedCalls, KeptRequest, Page } from "../../record-store.ts";
import { installationOf, isOfInstallation } from "./known-instances.ts";
import { createForgetting } from "./newest-rows.ts";
import { filterEqual, floorOf, idRange, readPage } from "../paging.ts";
import { createManyRows, prepareQuery, runWith, type RowWriter } from "../row-writer.ts";
import type { SqlDatabase, SqlStatement } from "../sqlite/sql-driver.ts";
import type { RecordsTables } from "../tables.ts";

/** In the order of `toRequestValues`. */
export const requestColumns = [
  "id",
  "at_ms",
  "team",
  "principal",
  "client",
  "instance",
  "server",
  "via",
  "method",
  "name",
  "outcome",
  "code",
  "duration_ms",
  "wait_ms",
  "argument_tokens",
  "result_tokens",
  "result_cut",
  "trace_id",
  "message",
] as const;

/** In one statement, which takes two thirds of the time of so many. */
const manyRows = 50;

/** Calls, and what was said in them: of the latter the newest of each instance are kept, `bodies` of them. */
export function createRequestWriter(
  database: SqlDatabase,
  db: Kysely<RecordsTables>,
  bodies: number,
): RowWriter<RequestRecord> {
  const row = { id: 0, at_ms: 0, team: null, principal: "", client: null, instance: "", server: "", via: "" };
  const rest = { method: "", name: "", outcome: "", code: null, duration_ms: 0, wait_ms: 0 };
  const counts = { argument_tokens: 0, result_tokens: 0, result_cut: 0, trace_id: null, message: null };
  const values = { ...row, ...rest, ...counts };
  const prepare = (rows: number): SqlStatement =>
    prepareQuery(
      database,
      db
        .insertInto("request_log")
        .values(Array.from({ length: rows }, () => values))
        .compile(),
    );
  const insert = prepare(1);
  const insertMany = createManyRows(prepare(manyRows), requestColumns.length);
  const body = { id: 0, instance: "", arguments: "", arguments_cut: 0, result: "", result_cut: 0 };
  const insertBody = prepareQuery(database, db.insertInto("request_body").values(body).compile());
  const forget = createForgetting(database, db, { table: "request_body", kept: bodies });

  function writeBody({ id, instance, body: said }: RequestRecord): void {
    if (said === null) return;
    const { arguments: given, areArgumentsCut, result, isResultCut } = said;
    runWith(insertBody, [id, instance, given, areArgumentsCut, result, isResultCut]);
  }

  function write(record: RequestRecord): void {
    runWith(insert, toRequestValues(record));
    writeBody(record);
  }

  return {
    write,
    writeAll(records) {
      const whole = records.length - (records.length % manyRows);
      for (let from = 0; from < whole; from += manyRows) {
        const some = records.slice(from, from + manyRows);
        insertMany(some.flatMap(toRequestValues));
        for (const record of some) writeBody(record);
      }
      for (const record of records.slice(whole)) write(record);
    },
    finish(records) {
      forget(records.filter(({ body }) => body !== null));
    },
  };
}

export function toRequestValues(record: RequestRecord): readonly unknown[] {
  return [
    record.id,
    record.atMs,
    record.team,
    record.principal,
    record.client,
    record.instance,
    record.server,
    record.via,
    record.method,
    record.name,
    record.outcome,
    record.code,
    record.durationMs,
    record.waitMs,
    record.argumentTokens,
    record.resultTokens,
    record.isResultCut,
    record.traceId,
    record.message,
  ];
}

type Calls = SelectQueryBuilder<RecordsTables, "request_log", object>;

export async function readCalls(db: Kysely<RecordsTables>, query: CallQuery): Promise<Page<CallRow>> {
  const { indexed, others } = splitFilters(query);
  const found = (from: Calls): Calls => filterCalls(idRange(from, "id", query), indexed);
  const page = await readPage(query, {
    floor: Object.keys(others).length === 0 ? undefined : floorOf(found(db.selectFrom("request_log")), "id"),
    rows: async (above) =>
      await filterCalls(found(db.selectFrom("request_log")), others)
        .select(requestColumns)
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
      ...toCall(row),
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
  "team" | "principal" | "server" | "instance" | "installation" | "tool" | "client" | "outcome" | "code" | "failed"
>;

const indexedFilters: ReadonlySet<string> = new Set(["instance", "installation", "principal"]);

/** The one filter that an index finds, and those that every row found has to be looked at for. */
function splitFilters(query: CallQuery): { readonly indexed: Filters; readonly others: Filters } {
  const { team, principal, server, instance, installation, tool, client, outcome, code, failed } = query;
  const all = Object.entries({ instance, installation, principal, failed, team, server, tool, client, outcome, code });
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
    .select(requestColumns)
    .select(installationOf("request_log").as("installation"))
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const body = await db.selectFrom("request_body").selectAll().where("id", "=", id).executeTakeFirst();
  return {
    ...toCall(row),
    installation: row.installation,
    body:
      body === undefined
        ? null
        : {
            arguments: body.arguments,
            areArgumentsCut: body.arguments_cut === 1,
            result: body.result,
            isResultCut: body.result_cut === 1,
          },
  };
}

type Row = Pick<RecordsTables["request_log"], (typeof requestColumns)[number]>;

function toCall(row: Row): Omit<RequestRecord, "body"> {
  return {
    id: row.id,
    atMs: row.at_ms,
    team: row.team,
    principal: row.principal,
    client: row.client,
    instance: row.instance,
    server: row.server,
    via: row.via,
    method: row.method,
    name: row.name,
    outcome: row.outcome as RequestOutcome,
    code: row.code,
    durationMs: row.duration_ms,
    waitMs: row.wait_ms,
    argumentTokens: row.argument_tokens,
    resultTokens: row.result_tokens,
    isResultCut: row.result_cut === 1,
    traceId: row.trace_id,
    message: row.message,
  };
}
