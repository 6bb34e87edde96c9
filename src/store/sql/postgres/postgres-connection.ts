import type { Client, ClientBase, ClientConfig } from "pg";
import { parsersOf, type PgModule } from "./postgres-dialect.ts";
import { Pooled } from "./postgres-errors.ts";
import { schemaOf } from "./postgres-migrate.ts";

export interface ConnectionOptions {
  readonly pg: PgModule;
  readonly url: string;
  /** For one statement, and for getting a connection. */
  readonly limits: { readonly statementMs: number };
}

interface ClientNeeds {
  readonly schema?: string | undefined;
  readonly statementMs?: number;
}

/** Connections to the database, of whose loss the next statement tells. */
export function openPlainPool(
  options: ConnectionOptions & { readonly limits: { readonly connections: number } },
  schema?: string,
) {
  const { pg, limits } = options;
  const pool = new pg.Pool({
    ...configOf(options, limits.statementMs),
    max: limits.connections,
    connectionTimeoutMillis: limits.statementMs,
    idleTimeoutMillis: 60_000,
    // The pool listens to those that it has at home. One that is lost between two statements of a transaction would
    // take the thread with it; the next statement says so as well.
    onConnect: async (client) => {
      client.on("error", () => undefined);
      await setUp(client, limits.statementMs, schema);
    },
  });
  // Of an idle connection: the next statement tells the same.
  pool.on("error", () => undefined);
  return pool;
}

/** One connection. Rejects where there is none, or the server refuses it. */
export async function connectClient(options: ConnectionOptions, needs: ClientNeeds = {}): Promise<Client> {
  const { pg, limits } = options;
  const { schema, statementMs = limits.statementMs } = needs;
  const client = new pg.Client({
    ...configOf(options, statementMs),
    connectionTimeoutMillis: limits.statementMs,
  });
  // A query that waits for an answer fails as well.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await setUp(client, statementMs, schema);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

function configOf({ pg, url }: ConnectionOptions, statementMs: number): ClientConfig {
  return {
    connectionString: url,
    application_name: "toolyard",
    keepAlive: true,
    // A connection that hangs says nothing at all.
    query_timeout: statementMs + 1_000,
    types: parsersOf({ types: pg.types }),
  };
}

/** By a statement: poolers refuse to pass these on in the message with which a connection begins. */
async function setUp(client: ClientBase, statementMs: number, schema: string = schemaOf.state): Promise<void> {
  await client.query(
    `select set_config('search_path', $1, false), set_config('statement_timeout', $2, false),
       set_config('idle_in_transaction_session_timeout', $3, false)`,
    [schema, String(statementMs), String(2 * statementMs)],
  );
}

const triedTimes = 3;

/**
 * Rejects with Pooled where a pooler gives this connection another one to the server with each transaction: notices and
 * locks are of such a connection, and would be lost without a word.
 */
export async function requireOwnConnections(client: Client, options: ConnectionOptions): Promise<void> {
  const own = await backendOf(client);
  // A pooler says a number of its own when a connection begins: the server's is for it alone.
  if ((client as unknown as { readonly processID: number }).processID === own) return;
  const other = await connectClient(options);
  try {
    for (let tries = 0; tries < triedTimes; tries += 1) {
      await other.query("begin");
      const isShared = (await backendOf(other)) === own || (await backendOf(client)) !== own;
      await other.query("commit");
      if (isShared) throw new Pooled("a pooler lends connections to it for one transaction each");
    }
  } finally {
    await other.end().catch(() => undefined);
  }
}

async function backendOf(client: Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
}
