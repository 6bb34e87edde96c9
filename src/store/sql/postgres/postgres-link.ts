import { createSignal } from "../../../kernel/runtime/abort.ts";
import { createHmac } from "node:crypto";
import type { Socket } from "node:net";
import { sql, type Kysely } from "kysely";
import type { Client } from "pg";
import type { StoreProblem } from "../../record-store.ts";
import { createChangeFeed, KnownChange, type ChangeFeed, type FeedNews } from "./change-feed.ts";
import { connectClient, openPlainPool, requireOwnConnections } from "./postgres-connection.ts";
import { createPostgresKysely, type PgModule } from "./postgres-dialect.ts";
import { isAway, isExhausted, nameDatabase, OtherKey, toPostgresProblem } from "./postgres-errors.ts";
import { migratePostgres, schemaOf } from "./postgres-migrate.ts";
import type { ChangeMark } from "../state/state-changes.ts";
import type { RecordsTables, StateTables } from "../tables.ts";

/**
 * The connections to one PostgreSQL: some for the state, some for records, so that these never keep those from being
 * written, and one that hears of changes. While it cannot be reached, it is tried again, later each time.
 */
export interface PostgresLink {
  /** Why nothing can be asked now. */
  readonly problem: StoreProblem | undefined;
  /** Resolves after the first try, whatever came of it. */
  readonly tried: Promise<void>;
  /** Resolves when it could be used for the first time, or when what keeps it from that is not that it is away. */
  readonly arrived: Promise<void>;
  /** Runs it in one transaction that sees rows of `team` alone, or of all where that is `*`. */
  inState<T>(how: TransactionKind, run: (db: Kysely<StateTables>) => Promise<T>): Promise<T>;
  inRecords<T>(team: string, run: (db: Kysely<RecordsTables>) => Promise<T>): Promise<T>;
  /** As that of `ChangeFeed`; false also while there is none. */
  readonly lock: ChangeFeed["lock"];
  /** This gateway has written that change. */
  wrote(mark: ChangeMark): void;
  /** Resolves when all changes of others that are committed now have been told, as far as it can be reached. */
  hear(): Promise<void>;
  /** No further try: all who wait for one are told. */
  stop(): Promise<void>;
  /** When nothing is asked any more. */
  close(): Promise<void>;
}

/** `write`: alone among all gateways. `read`: what it reads is of one moment. */
export type TransactionKind = "read" | "write";

export interface LinkOptions {
  readonly pg: PgModule;
  readonly url: string;
  /** Of the chain of the audit: all gateways of one database have the same. */
  readonly auditKey: Uint8Array;
  /** The last change that is known; undefined when nothing was read yet. */
  readonly after?: number | undefined;
  readonly limits: LinkLimits;
  readonly onProblem: () => void;
  readonly onNews: (news: FeedNews) => void;
  /** It can be used, also again: with the slot of the ids that this gateway makes. */
  readonly onOpen: (slot: number | undefined) => void;
}

export interface LinkLimits {
  /** Of the state, and as many of records: with the one that hears of changes, twice this and one per gateway. */
  readonly connections: number;
  /** For one statement, and for getting a connection. */
  readonly statementMs: number;
  /** Before the second try, twice as long before each further one, up to `longestMs`. */
  readonly retryMs: number;
  readonly longestMs: number;
}

export const defaultLinkLimits: LinkLimits = { connections: 4, statementMs: 5_000, retryMs: 250, longestMs: 2_000 };

/** Any number: the lock of those who write to the state. */
const stateLock = 7_402_886_518;
/** A migration copies tables; until it is done, nothing else is done either. */
const migrationMs = 600_000;

export function createPostgresLink(options: LinkOptions): PostgresLink {
  const { url, limits } = options;
  const place = nameDatabase(url);
  const sockets = new Set<Socket>();
  const state = createPostgresKysely<StateTables>(openPool(options, "state", sockets));
  const records = createPostgresKysely<RecordsTables>(openPool(options, "records", sockets));
  // A connection of before may be dead at the other end, which would be noticed only when it is needed.
  const life = createLinkLife(options, place, () => {
    for (const socket of sockets) socket.destroy();
  });

  /** What fails for the server's sake is noticed here as early as in the feed. */
  async function watched<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (isAway(error)) life.lose(error);
      if (isExhausted(error)) throw new Exhausted(`all ${limits.connections} connections to ${place} are busy`);
      throw error;
    }
  }

  return {
    get problem() {
      return life.problem;
    },
    tried: life.tried,
    arrived: life.arrived,
    inState: async (kind, run) =>
      await watched(
        async () =>
          await begin(state, kind).execute(async (db) => {
            await enter(db, "*", kind);
            return await run(db);
          }),
      ),
    inRecords: async (team, run) =>
      await watched(
        async () =>
          await records.transaction().execute(async (db) => {
            await enter(db, team, "read");
            return await run(db);
          }),
      ),
    lock: async (name, isWanted) => await watched(async () => await life.lock(name, isWanted)),
    wrote: (mark) => life.wrote(mark),
    hear: async () => await life.hear(),
    stop: () => life.stop(),
    async close() {
      await Promise.allSettled([life.stop(), state.destroy(), records.destroy()]);
    },
  };
}

/** Whether the server is there: tried again when it is not, later each time. */
interface LinkLife extends Pick<PostgresLink, "problem" | "tried" | "arrived" | "wrote" | "hear" | "lock"> {
  /** Something says that it is away. */
  lose(error: unknown): void;
  stop(): Promise<void>;
}

function createLinkLife(options: LinkOptions, place: string, dropConnections: () => void): LinkLife {
  const { limits, onProblem, onOpen } = options;
  const [tried, arrived] = [createSignal(), createSignal()];
  let problem: StoreProblem | undefined;
  let feed: ChangeFeed | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delayMs = limits.retryMs;
  let lastSeq = options.after;
  const known = new KnownChange();
  let heardAtMs = performance.now();
  let isClosed = false;

  function setProblem(next: StoreProblem | undefined): void {
    if (problem?.kind === next?.kind && problem?.message === next?.message) return;
    problem = next;
    onProblem();
  }

  async function open(): Promise<void> {
    timer = undefined;
    try {
      await migrateOver(options);
      feed = await createChangeFeed({
        client: await connectClient(options),
        after: lastSeq,
        known,
        onNews(news) {
          lastSeq = news.seq;
          options.onNews(news);
        },
        onLost: fail,
      });
      if (isClosed) return await feed.close();
      lastSeq = feed.seq;
      delayMs = limits.retryMs;
      setProblem(undefined);
      onOpen(feed.slot);
      arrived.done();
    } catch (error) {
      fail(error);
    } finally {
      tried.done();
    }
  }

  function fail(error: unknown): void {
    if (isClosed) return;
    heardAtMs = feed?.heardAtMs ?? heardAtMs;
    void feed?.close();
    feed = undefined;
    dropConnections();
    setProblem({ ...toPostgresProblem(error, place), unheardMs: Math.round(performance.now() - heardAtMs) });
    // One that is away comes back: who needs it first waits for it.
    if (problem?.kind !== "away") arrived.done();
    if (timer !== undefined) return;
    timer = setTimeout(() => void open(), delayMs);
    delayMs = Math.min(2 * delayMs, limits.longestMs);
  }

  void open();
  return {
    get problem() {
      return problem;
    },
    tried: tried.promise,
    arrived: arrived.promise,
    lose(error) {
      if (feed !== undefined) fail(error);
    },
    lock: async (name, isWanted) => (await feed?.lock(name, isWanted)) ?? false,
    wrote: (mark) => known.note(mark),
    hear: async () => await feed?.hear(),
    async stop() {
      isClosed = true;
      clearTimeout(timer);
      tried.done();
      arrived.done();
      await feed?.close();
    },
  };
}

/** The pool has no connection to spare: others can be asked later. */
export class Exhausted extends Error {
  override readonly name = "Exhausted";
}

function begin(db: Kysely<StateTables>, kind: TransactionKind) {
  return kind === "write" ? db.transaction() : db.transaction().setIsolationLevel("repeatable read");
}

/** The name of the team is forgotten with the transaction: a connection that is given back knows none. */
async function enter<Tables>(db: Kysely<Tables>, team: string, kind: TransactionKind): Promise<void> {
  await sql`select set_config('toolyard.team', ${team}, true)`.execute(db);
  if (kind === "write") await sql`select pg_advisory_xact_lock(${stateLock}::bigint)`.execute(db);
}

function openPool(options: LinkOptions, name: keyof typeof schemaOf, sockets: Set<Socket>) {
  const pool = openPlainPool(options, schemaOf[name]);
  pool.on("connect", (client) => {
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
    sockets.add(stream);
    stream.once("close", () => sockets.delete(stream));
  });
  return pool;
}

async function migrateOver(options: LinkOptions): Promise<void> {
  const client = await connectClient(options, { statementMs: migrationMs });
  try {
    await requireOwnConnections(client, options);
    // Rows are moved for all teams.
    await client.query("select set_config('toolyard.team', '*', false)");
    await migratePostgres(client);
    await requireSameKey(client, options.auditKey);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The chain of entries has one key: those of a gateway with another would look forged to the rest. */
async function requireSameKey(client: Client, key: Uint8Array): Promise<void> {
  const own = createHmac("sha256", key).update("audit key").digest("hex");
  const meta = `${schemaOf.state}.meta`;
  await client.query(`insert into ${meta} values ('audit.key', $1) on conflict (key) do nothing`, [own]);
  const { rows } = await client.query<{ value: string }>(`select value from ${meta} where key = 'audit.key'`);
  if (rows[0]?.value !== own) throw new OtherKey("its audit is sealed with another key than this gateway's");
}
