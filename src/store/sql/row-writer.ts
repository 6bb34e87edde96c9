import type { CompiledQuery, Kysely } from "kysely";
import { type SqlDatabase, sqliteCode, sqliteCodes, type SqlStatement, type SqlValue } from "./sqlite/sql-driver.ts";
import { toStorable } from "./row-text.ts";
import { recordTables } from "../record-rows.ts";
import type { RowOf } from "../state-table.ts";
import type { RecordsTables } from "./tables.ts";

/** Puts rows of one kind into their tables, inside a transaction that the caller has begun. */
export interface RowWriter<Row> {
  write(row: Row): void;
  /** The same for many rows, where that is cheaper than one after the other. */
  writeAll?(rows: readonly Row[]): void;
  /** After all rows of a batch: what belongs to the batch as a whole. */
  finish?(rows: readonly Row[]): void;
}

/** A statement that is compiled once and used for every row. */
export function prepareQuery(database: SqlDatabase, query: CompiledQuery): SqlStatement {
  return database.prepare(query.sql);
}

/** Writes rows of a table with a statement that is compiled once; with `replaces`, over the row with the same key. */
export function prepareInsert<Name extends keyof typeof recordTables>(
  database: SqlDatabase,
  db: Kysely<RecordsTables>,
  name: Name,
  replaces = false,
): (row: RowOf<(typeof recordTables)[Name]>) => void {
  const table = recordTables[name];
  const statement = prepareQuery(database, toInsert(db, name, { replaces }));
  return (row) => void runWith(statement, table.toValues(row as never));
}

/** An insert of that many rows, whose values follow when it is run. */
export function toInsert(
  db: Kysely<RecordsTables>,
  name: keyof typeof recordTables,
  { rows = 1, replaces = false }: { readonly rows?: number; readonly replaces?: boolean },
): CompiledQuery {
  const empty = Object.fromEntries(recordTables[name].columns.map((column) => [column, null])) as never;
  const values = Array.from({ length: rows }, () => empty);
  return (replaces ? db.replaceInto(name) : db.insertInto(name)).values(values).compile();
}

/** Runs a prepared statement with values that SQLite can hold; everything but numbers, texts and null is refused. */
export function runWith(statement: SqlStatement, values: readonly unknown[]): number {
  return statement.run(...values.map(toValue));
}

/**
 * The same for many rows of one statement. Most texts are those of the row before, and are not looked through again.
 *
 * @param columns values of one row
 */
export function createManyRows(statement: SqlStatement, columns: number): (values: readonly unknown[]) => number {
  const seen: unknown[] = Array.from({ length: columns });
  const stored: SqlValue[] = Array.from({ length: columns }, () => null);
  return (values) => {
    const bound: SqlValue[] = [];
    let column = 0;
    for (const value of values) {
      if (typeof value === "string" && value !== seen[column]) {
        stored[column] = toStorable(value);
        seen[column] = value;
      }
      bound.push(typeof value === "string" ? (stored[column] ?? null) : toValue(value));
      column = column + 1 === columns ? 0 : column + 1;
    }
    return statement.run(...bound);
  };
}

/** The value as SQLite holds it. Throws BadValue. */
export function toValue(value: unknown): SqlValue {
  if (typeof value === "string") return toStorable(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === null || typeof value === "number") return value;
  throw new BadValue(`a ${typeof value} is no value of a row`);
}

/** This row cannot be written; others can. */
export class BadValue extends Error {
  override readonly name = "BadValue";
}

/** Whether it is this row's fault, and the others of its batch can be written. */
export function isRowFault(error: unknown): boolean {
  const code = sqliteCode(error);
  const isRefused = code === sqliteCodes.constraint || code === sqliteCodes.mismatch;
  return isRefused || error instanceof BadValue || error instanceof TypeError;
}

/**
 * Takes rows that were just written, and deletes all of their instances but the newest. One look into the index for
 * each instance: counting its rows would take seconds.
 *
 * @param kept how many of each instance are kept
 */
export function createForgetting(
  database: SqlDatabase,
  db: Kysely<RecordsTables>,
  table: "request_body" | "server_log",
  kept: number,
): (written: readonly { readonly instance: string }[]) => void {
  const older = db
    .deleteFrom(table)
    .where("instance", "=", "")
    .where("id", "<", (inner) =>
      inner
        .selectFrom(table)
        .select("id")
        .where("instance", "=", "")
        .orderBy("id", "desc")
        .limit(1)
        .offset(kept - 1),
    );
  const forget = prepareQuery(database, older.compile());
  return (written) => {
    for (const instance of new Set(written.map((row) => row.instance)))
      runWith(forget, [instance, instance, 1, kept - 1]);
  };
}
