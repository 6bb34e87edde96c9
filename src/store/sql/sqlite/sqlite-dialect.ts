import { Kysely, SqliteAdapter, SqliteDialect } from "kysely";
import type { SqlDatabase, SqlStatement } from "./sql-driver.ts";
import { toValue } from "../row-writer.ts";

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

/** Statements that stay prepared: more than there are in the state. */
const keptStatements = 200;

/** Queries with types over an open database. Destroying it does not close the database. */
export function createKysely<Tables>(database: SqlDatabase): Kysely<Tables> {
  const statements = new Map<string, SqlStatement>();

  function prepare(sql: string): SqlStatement {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(toImmediate(sql));
    if (statements.size >= keptStatements) statements.clear();
    statements.set(sql, statement);
    return statement;
  }

  const adapted = {
    close: () => undefined,
    prepare(sql: string) {
      if (sql === "rollback") return toRollback(database);
      const statement = prepare(sql);
      const all = (values: readonly unknown[]) => [...statement.all(...values.map(toValue))];
      return {
        reader: readerPattern.test(sql),
        all,
        run: (values: readonly unknown[]) => ({
          changes: statement.run(...values.map(toValue)),
          lastInsertRowid: 0,
        }),
        iterate: (values: readonly unknown[]) => all(values)[Symbol.iterator](),
      };
    },
  };
  return new Kysely<Tables>({ dialect: new Dialect({ database: adapted }) });
}

/** What went wrong is what the caller of the transaction is told, and not that there is nothing left to roll back. */
function toRollback(database: SqlDatabase) {
  return {
    reader: false,
    all: () => [],
    iterate: () => [][Symbol.iterator](),
    run() {
      rollBack(database);
      return { changes: 0, lastInsertRowid: 0 };
    },
  };
}

function rollBack(database: SqlDatabase): void {
  try {
    database.exec("rollback");
  } catch {
    // SQLite has rolled back by itself: it does where there is no room or no disk.
  }
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
    rollBack(database);
    throw error;
  }
}
