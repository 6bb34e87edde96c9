import type { Kysely } from "kysely";
import type { RecordKind, RecordRows } from "../record-store.ts";
import { createEventWriter } from "./event-rows.ts";
import { createRequestWriter } from "./request-log.ts";
import type { RetentionLimits } from "./retention.ts";
import { isRowFault, type RowWriter } from "./row-writer.ts";
import { createLogWriter } from "./server-log.ts";
import type { SqlDatabase } from "./sql-driver.ts";
import { createKysely, inTransaction } from "./sqlite-dialect.ts";
import type { RecordsTables } from "./tables.ts";
import { createToolWriter } from "./tool-metadata.ts";
import { createUsageWriter } from "./usage.ts";

/** `records.db`, open. */
export interface RecordsDatabase {
  readonly database: SqlDatabase;
  readonly db: Kysely<RecordsTables>;
  /** The highest id of any record; 0 when there is none. */
  lastId(): number;
  /** Writes a batch in one transaction. Returns how many rows the database refused; throws when it wrote none. */
  append<Kind extends RecordKind>(kind: Kind, rows: readonly RecordRows[Kind][]): number;
}

export function prepareRecords(database: SqlDatabase, limits: RetentionLimits): RecordsDatabase {
  const db = createKysely<RecordsTables>(database);
  const writers: { readonly [Kind in RecordKind]: RowWriter<RecordRows[Kind]> } = {
    request: createRequestWriter(database, db, limits.bodies),
    log: createLogWriter(database, db, limits.logLines),
    usage: createUsageWriter(database, db),
    event: createEventWriter(database, db),
    tools: createToolWriter(database, db),
  };
  return {
    database,
    db,
    lastId() {
      const tables = ["request_log", "server_log", "event"];
      const ids = tables.map((table) => Number(database.prepare(`select max(id) as id from ${table}`).get()?.["id"]));
      return Math.max(0, ...ids);
    },
    append(kind, rows) {
      const writer = writers[kind];
      try {
        inTransaction(database, () => {
          for (const row of rows) writer.write(row);
          writer.finish?.(rows);
        });
        return 0;
      } catch (error) {
        // Rare: only then each row pays for being written by itself.
        if (!isRowFault(error)) throw error;
        return inTransaction(database, () => writeOneByOne(database, writer, rows));
      }
    },
  };
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
