import type { Kysely } from "kysely";
import type { RequestRecord } from "../../record-rows.ts";
import { prepareQuery } from "../row-writer.ts";
import { rowsFromText } from "../row-text.ts";
import type { SqlDatabase } from "../sqlite/sql-driver.ts";
import { inTransaction } from "../sqlite/sqlite-dialect.ts";
import type { RecordsTables } from "../tables.ts";
import type { RowText } from "./packed-calls.ts";

/**
 * Calls that came faster than there is time to write each into its row: whole batches, kept as they came. A row costs
 * a tenth of a call's time at thousands of calls a second, a batch nearly nothing; its rows are written when the burst
 * is over, or when somebody asks for calls. In the file from the first moment, as safe as the rows.
 */
export interface RequestBacklog {
  /** False, and nothing is kept, when its rows should be written at once. */
  take(batch: RowText): boolean;
  /** Whether a batch waits, and none came in the last second. */
  isDue(): boolean;
  /**
   * Writes the rows of the newest batch. Undefined when there is none; otherwise what became of its rows. Of a batch
   * that cannot be read, all of them count as refused: it is dropped, as it would stand before all others for ever.
   */
  sort(): Sorted | undefined;
  /** The same for the batch that may have the row with this id. */
  sortAround(id: number): Sorted | undefined;
  /** The highest id in it; 0 when it is empty. */
  lastId(): number;
}

/** What became of a batch's rows. */
export interface Sorted {
  readonly rows: number;
  readonly refused: number;
}

export interface BacklogOptions {
  readonly database: SqlDatabase;
  readonly db: Kysely<RecordsTables>;
  /** Inside a transaction. Returns how many rows the database refused. */
  readonly write: (rows: readonly RequestRecord[]) => number;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/**
 * Batches grow to a thousand rows at two thousand calls a second: no one makes those by hand. Lines of servers and
 * counts that come meanwhile are among the thousand, but not in the batch.
 */
const burstRows = 800;
/** A minute at fifteen thousand calls a second; a question for calls then waits some seconds. */
const mostRows = 1_000_000;
/** A burst is over when nothing came for so long. */
const quietMs = 1_000;

export function createRequestBacklog({ database, db, write, now }: BacklogOptions): RequestBacklog {
  const insert = prepareQuery(
    database,
    db.insertInto("request_backlog").values({ last_id: 0, rows: 0, text: "" }).compile(),
  );
  const newest = prepareQuery(
    database,
    db.selectFrom("request_backlog").select(["last_id", "rows", "text"]).orderBy("last_id", "desc").compile(),
  );
  const around = prepareQuery(
    database,
    db
      .selectFrom("request_backlog")
      .select(["last_id", "rows", "text"])
      .where("last_id", ">=", 0)
      .orderBy("last_id")
      .compile(),
  );
  const remove = prepareQuery(database, db.deleteFrom("request_backlog").where("last_id", "=", 0).compile());
  let waiting = Number(database.prepare("select sum(rows) as rows from request_backlog").get()?.["rows"] ?? 0);
  let takenMs = -Infinity;

  function sortBatch(batch: Readonly<Record<string, unknown>>): Sorted {
    const counted = Number(batch["rows"]);
    const rows = readBatch(String(batch["text"]));
    const written = inTransaction(database, () => {
      remove.run(Number(batch["last_id"]));
      return rows.length === 0 ? 0 : rows.length - write(rows);
    });
    waiting = Math.max(0, waiting - counted);
    return { rows: counted, refused: Math.max(0, counted - written) };
  }

  return {
    take({ text, count: rows, lastId }) {
      if (lastId === 0 || rows < burstRows || waiting + rows > mostRows) return false;
      insert.run(lastId, rows, text);
      waiting += rows;
      takenMs = now();
      return true;
    },
    isDue: () => waiting > 0 && now() - takenMs > quietMs,
    sort() {
      const batch = waiting === 0 ? undefined : newest.get();
      if (batch === undefined) waiting = 0;
      return batch === undefined ? undefined : sortBatch(batch);
    },
    sortAround(id) {
      const batch = waiting === 0 ? undefined : around.get(id);
      return batch === undefined ? undefined : sortBatch(batch);
    },
    lastId: () => Number(database.prepare("select max(last_id) as id from request_backlog").get()?.["id"] ?? 0),
  };
}

/** None where the text is damaged: a page of the file may be, without SQLite's noticing. */
function readBatch(text: string): readonly RequestRecord[] {
  try {
    return rowsFromText("request", text);
  } catch {
    return [];
  }
}
