import { sql, type Kysely } from "kysely";
import type { Client } from "pg";
import { createPostgresKysely, oneConnection } from "./postgres-dialect.ts";
import { idSlots } from "../records/record-ids.ts";
import {
  changeChannel,
  hasChange,
  lastMark,
  mostChanges,
  type ChangeMark,
  type StateChange,
} from "../state/state-changes.ts";
import type { StateTables } from "../tables.ts";

/** Changes that were not told before, in their order. */
export interface FeedNews {
  /** The last of them. */
  readonly seq: number;
  /** Undefined where there are more than were kept: everything has to be read again. */
  readonly changes: readonly StateChange[] | undefined;
  /**
   * The database has lost changes that were known here, in a failover or a restore: numbers begin before those again,
   * and rows that are known here may never have been.
   */
  readonly hasLost?: boolean;
}

/**
 * Hears of changes that gateways make: woken by the database when one is committed, and by a look each second for those
 * that went unheard. Its own connection also tells whether the server is there.
 */
export interface ChangeFeed {
  /** The last change that it has told of. */
  readonly seq: number;
  /** A number that no other gateway of this database has; undefined when there are too many. */
  readonly slot: number | undefined;
  /** When the database last answered it, by the clock of `performance`. */
  readonly heardAtMs: number;
  /** Looks now. Resolves when everything was told that had been committed before, or when the connection is lost. */
  hear(): Promise<void>;
  /**
   * Takes the lock of this name, or gives it back; it ends with the connection at the latest. Resolves to whether that
   * was done: false while another gateway has it.
   */
  lock(name: string, isWanted: boolean): Promise<boolean>;
  close(): Promise<void>;
}

/** Over all connections. Where it is not there although something is known, that counts as lost. */
export class KnownChange {
  mark: ChangeMark | undefined;

  note(mark: ChangeMark): void {
    if (mark.seq > (this.mark?.seq ?? 0)) this.mark = mark;
  }
}

export interface FeedOptions {
  /** A connection that is its own, and is closed by it. */
  readonly client: Client;
  /** The last change that is known; undefined when nothing was read yet. */
  readonly after: number | undefined;
  /** The last change that the database had; kept up to date. */
  readonly known: KnownChange;
  readonly onNews: (news: FeedNews) => void;
  /** The connection is lost. Called once. */
  readonly onLost: (error: unknown) => void;
}

const lookMs = 1_000;
/** Any number of 32 bits: the locks of slots. */
const slotLocks = 740_288_651;

export async function createChangeFeed(options: FeedOptions): Promise<ChangeFeed> {
  const { client, after, known, onNews, onLost } = options;
  const db = createPostgresKysely<StateTables>(oneConnection(client));
  let seq = after ?? 0;
  let [isEnded, isWoken] = [false, false];
  let heardAtMs = performance.now();
  let looking: Promise<void> | undefined;

  function lose(error: unknown): void {
    if (isEnded) return;
    isEnded = true;
    clearInterval(timer);
    onLost(error);
  }

  async function lookOnce(): Promise<void> {
    const found = db.selectFrom("change").selectAll().where("seq", ">", seq).orderBy("seq").limit(mostChanges);
    // The answer holds for the time of the question.
    const askedAtMs = performance.now();
    const changes = await found.execute();
    heardAtMs = askedAtMs;
    const last = changes.at(-1);
    if (last === undefined) return;
    const isWhole = changes[0]?.seq === seq + 1 && changes.length < mostChanges;
    if (isWhole) known.note({ seq: (seq = last.seq), atMs: last.at_ms, origin: last.origin });
    else await readLast();
    if (!isEnded) onNews({ seq, changes: isWhole ? changes : undefined });
  }

  async function readLast(): Promise<void> {
    known.mark = await lastMark(db);
    seq = known.mark?.seq ?? 0;
  }

  /** Before anything else is looked for: after a loss, the numbers that were told mean other changes. */
  async function begin(): Promise<void> {
    if (after === undefined) return await readLast();
    if (known.mark === undefined ? after === 0 : await hasChange(db, known.mark)) return;
    await readLast();
    onNews({ seq, changes: undefined, hasLost: true });
  }

  /** One at a time; who is woken meanwhile looks again. */
  async function hear(): Promise<void> {
    isWoken = true;
    looking ??= (async () => {
      for (; isWoken && !isEnded; await lookOnce()) isWoken = false;
    })()
      .catch(lose)
      .finally(() => (looking = undefined));
    await looking;
  }

  const look = (): void => void hear();

  let timer: NodeJS.Timeout | undefined;
  let slot: number | undefined;
  try {
    await sql`listen ${sql.id(changeChannel)}`.execute(db);
    await begin();
    slot = await takeSlot(db);
    // What was changed while it was away is told before anybody is told that it is back.
    await lookOnce();
    timer = setInterval(look, lookMs);
  } catch (error) {
    isEnded = true;
    await client.end().catch(() => undefined);
    throw error;
  }
  client.on("notification", look);
  client.on("error", lose);
  client.on("end", () => lose(new Error("Connection terminated")));
  // What was changed before it could be woken.
  look();
  return {
    get seq() {
      return seq;
    },
    slot,
    get heardAtMs() {
      return heardAtMs;
    },
    hear,
    lock: async (name, isWanted) => await lockNamed(db, name, isWanted),
    async close() {
      isEnded = true;
      clearInterval(timer);
      await client.end().catch(() => undefined);
    },
  };
}

async function lockNamed(db: Kysely<StateTables>, name: string, isWanted: boolean): Promise<boolean> {
  const key = sql`hashtextextended(${name}, ${slotLocks})`;
  const done = isWanted ? sql`pg_try_advisory_lock(${key})` : sql`pg_advisory_unlock(${key})`;
  return (await sql<{ is: number }>`select ${done} as "is"`.execute(db)).rows[0]?.is === 1;
}

/** Held as long as this connection is. */
async function takeSlot(db: ReturnType<typeof createPostgresKysely<StateTables>>): Promise<number | undefined> {
  const first = Math.floor(Math.random() * idSlots);
  for (let at = 0; at < idSlots; at += 1) {
    const slot = (first + at) % idSlots;
    const taken = sql<{ is: number }>`select pg_try_advisory_lock(${slotLocks}::int, ${slot}::int) as "is"`;
    if ((await taken.execute(db)).rows[0]?.is === 1) return slot;
  }
  return undefined;
}
