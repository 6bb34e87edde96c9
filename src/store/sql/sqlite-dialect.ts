import { Kysely, SqliteAdapter, SqliteDialect } from "kysely";
import type { SqlDatabase, SqlValue } from "./sql-driver.ts";

/**
 * Kysely says of SQLite that a table cannot be made in a transaction, and then makes each by itself: a process that
 * is killed in the middle leaves half a migration, and can never finish it. SQLite can.
 */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class Dialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/** Queries with types over an open database. Destroying it does not close the database. */
export function createKysely<Tables>(database: SqlDatabase): Kysely<Tables> {
  const adapted = {
    close: () => undefined,
    prepare(sql: string) {
      const statement = database.prepare(toImmediate(sql));
      const isReader = readerPattern.test(sql);
      return {
        reader: isReader,
        all: (values: readonly unknown[]) => [...statement.all(...(values as readonly SqlValue[]))],
        run(values: readonly unknown[]) {
          return { changes: statement.run(...(values as readonly SqlValue[])), lastInsertRowid: 0 };
        },
        iterate: (values: readonly unknown[]) => statement.all(...(values as readonly SqlValue[]))[Symbol.iterator](),
      };
    },
  };
  return new Kysely<Tables>({ dialect: new Dialect({ database: adapted }) });
}

const readerPattern = /^\s*(?:select|with|pragma|explain)\b|\breturning\b/i;

/**
 * A transaction that begins as a reader and becomes a writer is refused at once, without waiting, when another
 * connection wrote in between.
 */
function toImmediate(sql: string): string {
  return sql === "begin" ? "begin immediate" : sql;
}

/** Runs it in one transaction, which is rolled back when it throws. */
export function inTransaction<T>(database: SqlDatabase, run: () => T): T {
  database.exec("begin immediate");
  try {
    const result = run();
    database.exec("commit");
    return result;
  } catch (error) {
    try {
      database.exec("rollback");
    } catch {
      // SQLite has rolled back by itself: it does where there is no room or no disk.
    }
    throw error;
  }
}
