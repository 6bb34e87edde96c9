import type { Kysely } from "kysely";
import type { RecordKind, RecordRows } from "../../record-store.ts";
import { createRequestBacklog, type RequestBacklog } from "../requests/request-backlog.ts";
import { createEventWriter, createToolWriter } from "./event-rows.ts";
import { createRequestWriter } from "../requests/request-log.ts";
import type { RetainedRecords } from "./retention.ts";
import type { RetentionLimits } from "../requests/retention-limits.ts";
import { isRowFault, prepareInsert, type RowWriter } from "../row-writer.ts";
import { rowsFromText } from "../row-text.ts";
import { createLogWriter } from "./server-log.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import { createKysely, inTransaction } from "../sqlite/sqlite-dialect.ts";
import type { AppendRequest } from "../sql-messages.ts";
import type { RecordsTables } from "../tables.ts";
import { createUsageWriter } from "./usage.ts";
import type { RowText } from "../requests/packed-calls.ts";

/** `records.db`, open. */
export interface RecordsDatabase extends RetainedRecords {
  readonly database: SqlDatabase;
  readonly db: Kysely<RecordsTables>;
  /** The highest id of any record; 0 when there is none. */
  lastId(): number;
  /** Calls of a burst, which are not among the rows yet. */
  readonly backlog: RequestBacklog;
  /** Writes a batch in one transaction. Returns how many rows the database refused; throws when it wrote none. */
  append(batch: Pick<AppendRequest, "rows" | keyof RowText>): number;
}

export function prepareRecords(database: SqlDatabase, limits: RetentionLimits): RecordsDatabase {
  const db = createKysely<RecordsTables>(database);
  const writers: { readonly [Kind in RecordKind]: RowWriter<RecordRows[Kind]> } = {
    request: createRequestWriter(database, db, limits.bodies),
    log: createLogWriter(database, db, limits.logLines),
    usage: createUsageWriter(database, db),
    event: createEventWriter(database, db),
    tools: createToolWriter(database, db),
    session: { write: prepareInsert(database, db, "finding_session", true) },
    spent: { write: prepareInsert(database, db, "finding_day", true) },
  };
  const backlog = createRequestBacklog({
    database,
    db,
    write: (rows) => writeRows(database, writers.request, rows),
    now: () => performance.now(),
  });
  return {
    database,
    db,
    backlog,
    transact: async (run) => await db.transaction().execute(run),
    requestBytes: async () => fileBytes(database),
    lastId() {
      const tables = ["request_log", "server_log", "event", "finding_session"];
      const ids = tables.map((table) => Number(database.prepare(`select max(id) as id from ${table}`).get()?.["id"]));
      return Math.max(0, backlog.lastId(), ...ids);
    },
    append({ rows: kind, ...batch }) {
      if (kind === "request" && backlog.take(batch)) return 0;
      const rows = rowsFromText(kind, batch.text);
      return inTransaction(database, () => writeRows(database, writers[kind] as RowWriter<unknown>, rows));
    },
  };
}

function fileBytes(database: SqlDatabase): number {
  const pages = Number(database.prepare("pragma page_count").get()?.["page_count"]);
  return pages * Number(database.prepare("pragma page_size").get()?.["page_size"]);
}

/** Inside a transaction. Returns how many were refused. */
function writeRows<Row>(database: SqlDatabase, writer: RowWriter<Row>, rows: readonly Row[]): number {
  database.exec("savepoint batch");
  try {
    if (writer.writeAll !== undefined) writer.writeAll(rows);
    else for (const row of rows) writer.write(row);
    writer.finish?.(rows);
    return 0;
  } catch (error) {
    // Rare: only then each row pays for being written by itself.
    if (!isRowFault(error)) throw error;
    database.exec("rollback to batch");
    return writeOneByOne(database, writer, rows);
  }
}

/** Returns how many were refused. */
function writeOneByOne<Row>(database: SqlDatabase, writer: RowWriter<Row>, rows: readonly Row[]): number {
  const written: Row[] = [];
  for (const row of rows) {
    database.exec("savepoint row");
    try {
      writer.write(row);
      written.push(row);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      database.exec("rollback to row");
    }
    database.exec("release row");
  }
  writer.finish?.(written);
  return rows.length - written.length;
}
