import { createAuditChain, verifyAudit } from "../state/audit.ts";
import type { FeedNews } from "../postgres/change-feed.ts";
import type { PgModule } from "../postgres/postgres-dialect.ts";
import { codeOf, isFull, nameDatabase, toPostgresProblem } from "../postgres/postgres-errors.ts";
import { createPostgresLink, defaultLinkLimits, Exhausted, type PostgresLink } from "../postgres/postgres-link.ts";
import { schemaOf, stepsDone } from "../postgres/postgres-migrate.ts";
import { writeRecords } from "../postgres/postgres-records.ts";
import { recordReads } from "../records/record-reads.ts";
import { createRetentionRounds } from "../records/retention.ts";
import { rowsFromText } from "../row-text.ts";
import type { AppendRequest, BatchResult, QuestionName, SqlWorkerData } from "../sql-messages.ts";
import { type StateDatabase, stateReads, stateWrites } from "../state/state-answers.ts";
import { isBehind, lastChange, putChange, type ChangeMark } from "../state/state-changes.ts";
import { toldOf } from "./change-notices.ts";
import type { SqliteDatabase } from "./sqlite-database.ts";
import { BadBackup, Behind, Refused, toRefusal } from "../store-refusal.ts";
import { type DatabaseCheck, upkeepQuestions } from "../../store-upkeep.ts";
import { sql } from "kysely";

export interface PostgresDatabaseOptions {
  readonly pg: PgModule;
  readonly data: Pick<SqlWorkerData, "auditKey" | "retention" | "gatewayId" | "link" | "after"> & {
    readonly database: string;
  };
  readonly onProblems: () => void;
  readonly onNews: (news: FeedNews) => void;
  readonly onSlot: (slot: number) => void;
  readonly turn: () => Promise<void>;
}

/**
 * The desk where everything is in PostgreSQL. Questions do not wait for each other, but for those that change the
 * state: they are written in the order in which they came.
 */
export function createPostgresDatabase(options: PostgresDatabaseOptions): SqliteDatabase {
  const { pg, data, onProblems, onNews, onSlot, turn } = options;
  const link = createPostgresLink({
    pg,
    url: data.database,
    auditKey: data.auditKey,
    after: data.after,
    limits: { ...defaultLinkLimits, ...data.link },
    onProblem: onProblems,
    onNews,
    onOpen: (slot) => (slot === undefined ? undefined : onSlot(slot)),
  });
  const ask = createAnswers(link, options);
  let verifying = 0;
  /** Questions that are not answered yet. */
  const open = new Set<Promise<unknown>>();

  const retain = createRetentionRounds({
    limits: data.retention,
    records: () =>
      link.problem === undefined
        ? {
            transact: async (run) => await link.inRecords("*", run),
            requestBytes: async () => await requestBytes(link),
          }
        : undefined,
    chain: () => (link.problem === undefined ? chainOf(link, data.auditKey) : undefined),
    isFree: () => verifying === 0,
  });

  async function answer(name: QuestionName, text: string): Promise<string> {
    if (name === "verifyAudit") verifying += 1;
    try {
      await link.tried;
      // The gateway cannot begin without its people: it waits while the server is only away.
      if (name === "people") await link.arrived;
      if (name === "check") return JSON.stringify(await checkPostgres(link, data.database));
      if (link.problem !== undefined) throw new Refused(link.problem);
      return JSON.stringify((await ask(name, text, turn)) ?? null);
    } catch (error) {
      throw toPostgresRefusal(error, link, data.database);
    } finally {
      if (name === "verifyAudit") verifying -= 1;
    }
  }

  return {
    isParallel: true,
    open: async () => await link.tried,
    lastId: () => 0,
    problems: () => (link.problem === undefined ? [] : [link.problem]),
    append: async (batch) => await append(link, data, batch),
    sort: async () => false,
    async ask(name, text) {
      const asked = answer(name, text);
      open.add(asked);
      try {
        return await asked;
      } finally {
        open.delete(asked);
      }
    },
    look: async () => undefined,
    retain: async () => await retain(),
    async close() {
      await link.stop();
      await Promise.allSettled(open);
      await link.close();
    },
  };
}

type Ask = (name: QuestionName, text: string, turn: () => Promise<void>) => Promise<unknown>;
type StateAnswer = (state: StateDatabase, ask: unknown) => Promise<unknown>;

function createAnswers(link: PostgresLink, { data }: PostgresDatabaseOptions): Ask {
  let writing: Promise<unknown> = Promise.resolve();

  async function write(name: QuestionName, text: string): Promise<unknown> {
    const origin = data.gatewayId;
    const what = JSON.parse(text) as { readonly seen?: number; readonly writes?: unknown };
    const marks: ChangeMark[] = [];
    const answer = await link
      .inState("write", async (db) => {
        const { seen } = what;
        // Of access, the people in it: the rest depends on nothing that was read before.
        const kind = name === "changeAccess" ? "changePeople" : name;
        if (seen !== undefined && (await isBehind(db, { seen, origin, kind }))) throw new Behind();
        const result = await (stateWrites as Record<string, StateAnswer>)[name]?.(openState(db, data.auditKey), what);
        const numbers: Record<string, number> = {};
        for (const { as, ...change } of toldOf(name, what, result)) {
          const atMs = Date.now();
          numbers[as] = await putChange(db, { origin, ...change }, atMs);
          marks.push({ seq: numbers[as], atMs, origin });
        }
        return Object.keys(numbers).length === 0 ? result : { ...(result as object), ...numbers };
      })
      .catch(async (error: unknown) => {
        // It is planned again with what the others wrote, which is told first.
        if (error instanceof Behind) await link.hear();
        throw error;
      });
    for (const mark of marks) link.wrote(mark);
    return answer;
  }

  return async (name, text, turn) => {
    if (Object.hasOwn(upkeepQuestions, name)) throw withItsOwnTools();
    if (Object.hasOwn(stateWrites, name)) {
      const mine = writing.then(async () => await write(name, text));
      writing = mine.catch(() => undefined);
      return await mine;
    }
    const what: unknown = JSON.parse(text);
    if (name === "lockShared" || name === "unlockShared") return await link.lock(String(what), name === "lockShared");
    if (name === "verifyAudit") return await link.inState("read", (db) => verifyAudit(db, data.auditKey, turn));
    if (Object.hasOwn(stateReads, name))
      return await link.inState("read", async (db) => {
        const answer = await (stateReads as Record<string, StateAnswer>)[name]?.(openState(db, data.auditKey), what);
        return isNumbered(name) ? { ...(answer as object), seq: await lastChange(db) } : answer;
      });
    const read = (recordReads as Record<string, (db: unknown, ask: unknown) => Promise<unknown>>)[name];
    return await link.inRecords(teamOf(what), async (db) => await read?.(db, what));
  };
}

/** The data that is read whole, and then followed by the changes of others. */
function isNumbered(name: QuestionName): boolean {
  return name === "people" || name === "access" || name === "installs" || name === "approvals" || name === "shared";
}

function withItsOwnTools(): BadBackup {
  return new BadBackup(
    "a PostgreSQL is backed up and restored with its own programs",
    `Back up with \`pg_dump --format=custom --schema=${schemaOf.state} --file=FILE URL\`; restore with ` +
      "pg_restore while no gateway runs.",
  );
}

/** A question of one team sees nothing else, whatever its filters say. */
function teamOf(what: unknown): string {
  const team = typeof what === "object" && what !== null && "team" in what ? what.team : undefined;
  return typeof team === "string" ? team : "*";
}

/** The state inside a transaction that has begun. */
function openState(db: StateDatabase["db"], key: Uint8Array): StateDatabase {
  const transact: StateDatabase["transact"] = async (run) => await run(db);
  return { db, transact, chain: createAuditChain(transact, key) };
}

function chainOf(link: PostgresLink, key: Uint8Array) {
  return createAuditChain(async (run) => await link.inState("write", run), key);
}

async function append(
  link: PostgresLink,
  { retention: limits }: Pick<SqlWorkerData, "retention">,
  { rows: kind, text, count }: Omit<AppendRequest, "kind" | "id">,
): Promise<BatchResult> {
  const begin = performance.now();
  const commitMs = (): number => performance.now() - begin;
  if (link.problem !== undefined) return { written: 0, refused: 0, lost: count, commitMs: 0 };
  try {
    const rows = rowsFromText(kind, text);
    const refused = await link.inRecords("*", async (db) => await writeRecords(db, { kind, rows, limits }));
    return { written: count - refused, refused, lost: 0, commitMs: commitMs() };
  } catch {
    // Whether it is there is not known; writing it twice would be worse than counting it as lost.
    return { written: 0, refused: 0, lost: count, commitMs: commitMs() };
  }
}

async function requestBytes(link: PostgresLink): Promise<number> {
  const size = sql<{ bytes: number }>`select pg_total_relation_size('request_log') as bytes`;
  return await link.inRecords("*", async (db) => (await size.execute(db)).rows[0]?.bytes ?? 0);
}

const canceled = "57014";

function toPostgresRefusal(error: unknown, link: PostgresLink, url: string): Refused {
  if (error instanceof Exhausted || codeOf(error) === canceled) {
    const message = error instanceof Exhausted ? error.message : "the database took too long for one statement";
    const hint = "Ask again in a moment; if it stays so, look at what the database does.";
    return new Refused({ database: null, kind: "away", message, hint });
  }
  if (isFull(error)) return new Refused(toPostgresProblem(error, nameDatabase(url)));
  return toRefusal(error, link.problem);
}

/** Looks at what an administrator can do something about. What the server itself looks after, it does not repeat. */
async function checkPostgres(link: PostgresLink, url: string): Promise<readonly DatabaseCheck[]> {
  const place = nameDatabase(url);
  const { problem } = link;
  if (problem !== undefined)
    return (["state", "records"] as const).map((database) => {
      return { database, place, engine: "PostgreSQL", bytes: 0, steps: [], faults: [problem.message] };
    });
  return await link.inState("read", async (db) => {
    const about = sql<{ version: string; isAbove: number }>`select current_setting('server_version') as version,
      (rolsuper or rolbypassrls) as "isAbove" from pg_roles where rolname = current_user`;
    const [server] = (await about.execute(db)).rows;
    const checks: DatabaseCheck[] = [];
    for (const database of ["state", "records"] as const) {
      const size = sql<{ bytes: number }>`select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
        from pg_class c where c.relkind = 'r' and c.relnamespace = ${schemaOf[database]}::regnamespace`;
      const open = sql<{ name: string }>`select c.table_name as name from information_schema.columns c
        join pg_class t on t.relname = c.table_name and t.relnamespace = ${schemaOf[database]}::regnamespace
        where c.table_schema = ${schemaOf[database]} and c.column_name in ('team', 'team_id')
          and not t.relforcerowsecurity`;
      const faults = (await open.execute(db)).rows.map(({ name }) => `rows of ${name} are not kept apart by team`);
      if (server?.isAbove === 1)
        faults.push("its user is a superuser or has BYPASSRLS, so that security of rows does not hold for the gateway");
      checks.push({
        database,
        place,
        engine: `PostgreSQL ${server?.version}`,
        bytes: (await size.execute(db)).rows[0]?.bytes ?? 0,
        steps: await stepsDone(db as never, database),
        faults,
      });
    }
    return checks;
  });
}
