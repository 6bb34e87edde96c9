import { Kysely, PostgresDialect, PostgresQueryCompiler, type CreateTableNode, type DataTypeNode } from "kysely";
import type { Client, PoolClient } from "pg";
import { toValue } from "../row-writer.ts";

/** What of `pg` is used, which is loaded only where there is a PostgreSQL. */
export type PgModule = Pick<typeof import("pg"), "Client" | "Pool" | "types">;
/** One that connections are taken from and given back to. */
export interface Connections {
  connect(): Promise<PoolClient>;
  end(): Promise<void>;
}

/** The columns of our migrations: their integers have 64 bits, and texts are compared as SQLite compares them. */
const typesOfColumns: Readonly<Record<string, string>> = {
  integer: "bigint",
  real: "double precision",
  blob: "bytea",
  text: 'text collate "C"',
};

/** Writes the statements of our migrations, which say `strict` and `without rowid` to SQLite. */
class Compiler extends PostgresQueryCompiler {
  protected override visitCreateTable({ endModifiers: _, ...node }: CreateTableNode): void {
    super.visitCreateTable(node);
  }

  protected override visitDataType(node: DataTypeNode): void {
    const name: string = node.dataType;
    this.append(typesOfColumns[name] ?? name);
  }
}

class Dialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new Compiler();
  }
}

/** Queries with types over connections, with values as they are in SQLite. Destroying it closes them. */
export function createPostgresKysely<Tables>(connections: Connections): Kysely<Tables> {
  const known = new WeakMap<PoolClient, ReturnType<typeof wrap>>();
  const pool = {
    async connect() {
      const client = await connections.connect();
      const wrapped = known.get(client) ?? wrap(client);
      known.set(client, wrapped);
      return wrapped;
    },
    end: async () => await connections.end(),
  };
  return new Kysely<Tables>({ dialect: new Dialect({ pool: pool as never }) });
}

function wrap(client: PoolClient) {
  let hasFailed = false;
  return {
    async query(text: string, values: readonly unknown[] = []) {
      try {
        return await client.query(text, values.map(toValue));
      } catch (error) {
        // Where not even a rollback works, the state of the connection is unknown.
        hasFailed ||= text === "rollback" || !isOfServer(error);
        // The error before the rollback is the one that is told.
        if (text === "rollback") return { command: "", rowCount: 0, rows: [] };
        throw error;
      }
    },
    release: () => client.release(hasFailed),
  };
}

/** Whether the server refused a statement; otherwise the connection itself is no good any more. */
function isOfServer(error: unknown): boolean {
  return error instanceof Error && "severity" in error;
}

const int8 = 20;
const numeric = 1_700;
const bool = 16;

/** Parsers of what comes back: numbers as numbers, and truth as 0 or 1, as in SQLite. */
export function parsersOf({ types }: Pick<PgModule, "types">) {
  return {
    getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
      if (oid === int8 || oid === numeric) return Number;
      if (oid === bool) return (value) => (value === "t" ? 1 : 0);
      return types.getTypeParser(oid, format as "text") as (value: string) => unknown;
    },
  };
}

/** A pool of one that is there already, and stays. */
export function oneConnection(client: Client): Connections {
  const lent = Object.assign(Object.create(client) as PoolClient, {
    query: client.query.bind(client),
    release: () => undefined,
  });
  return { connect: async () => lent, end: async () => undefined };
}
