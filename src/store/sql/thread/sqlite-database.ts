import { join } from "node:path";
import type { AnswerOf, AskOf } from "../../question.ts";
import type { CallQuery, StoreProblem } from "../../record-store.ts";
import type { WrittenBackup } from "../../store-upkeep.ts";
import { createAuditChain, verifyAudit } from "../state/audit.ts";
import { ballastBytes, createBallast, type Ballast } from "../sqlite/disk-reserve.ts";
import { createKeeper, type DatabaseKeeper } from "../sqlite/database-keeper.ts";
import { recordReads } from "../records/record-reads.ts";
import { idAt } from "../records/record-ids.ts";
import type { RequestBacklog, Sorted } from "../requests/request-backlog.ts";
import { recordsSteps, stateSteps } from "../sqlite/schema-steps.ts";
import { prepareRecords, type RecordsDatabase } from "../records/records-database.ts";
import { Refused, toRefusal } from "../store-refusal.ts";
import { createRetentionRounds } from "../records/retention.ts";
import { isOutOfRoom, sqliteCode, sqliteCodes, type SqlDatabase, type SqlDriver } from "../sqlite/sql-driver.ts";
import type { AppendRequest, BatchResult, QuestionName, Questions, SqlWorkerData } from "../sql-messages.ts";
import { createKysely } from "../sqlite/sqlite-dialect.ts";
import { backUp, checkSqlite, downloadPath, removeDownload, restoreState } from "./state-backup.ts";
import { stateReads, stateWrites, type StateDatabase } from "../state/state-answers.ts";
import type { Transact, StateTables } from "../tables.ts";

/**
 * The work of the worker thread: both databases, and the questions to them. One thing at a time, but for `verifyAudit`
 * and `calls`.
 */
export interface SqliteDatabase {
  /** Whether questions need not wait for each other, nor for batches. */
  readonly isParallel: boolean;
  open(): Promise<void>;
  /** The highest id of any record; 0 when it is not known. */
  lastId(): number;
  problems(): readonly StoreProblem[];
  append(batch: Omit<AppendRequest, "kind" | "id">): Promise<BatchResult>;
  /** Writes the rows of one batch that came in a burst, if the burst is over. False when there is none. */
  sort(): Promise<boolean>;
  /** JSON for JSON. Throws Refused. */
  ask(name: QuestionName, text: string): Promise<string>;
  /** At files and disk; call it every few seconds. */
  look(): Promise<void>;
  /** Deletes one piece of the rows that are too old. False when there is nothing more, until the next round. */
  retain(): Promise<boolean>;
  close(): Promise<void>;
}

export interface SqliteDatabaseOptions {
  readonly driver: SqlDriver;
  readonly data: Pick<SqlWorkerData, "folder" | "auditKey" | "retention">;
  readonly onProblems: () => void;
  /** Rows that were said to be written were refused later. */
  readonly onUnwritten: (rows: number) => void;
  /** Lets other work go first. */
  readonly turn: () => Promise<void>;
}

interface SqliteState extends StateDatabase {
  readonly database: SqlDatabase;
}

export function createSqliteDatabase({
  driver,
  data,
  onProblems,
  onUnwritten,
  turn,
}: SqliteDatabaseOptions): SqliteDatabase {
  const { folder, auditKey, retention } = data;
  const ballast = createBallast(join(folder, "records.db.ballast"), folder);
  const room = { free: () => ballast.free(), isEnough: (database: SqlDatabase) => hasRoom(database, ballast) };
  const common = { driver, folder, onProblem: onProblems, room };
  const records = createKeeper<RecordsDatabase>({
    ...common,
    name: "records",
    synchronous: "normal",
    migrations: recordsSteps,
    isDisposable: true,
    prepare: (database) => prepareRecords(database, retention),
  });
  const state = createKeeper<SqliteState>({
    ...common,
    name: "state",
    synchronous: "full",
    migrations: stateSteps,
    isDisposable: false,
    prepare(database) {
      const db = createKysely<StateTables>(database);
      const transact: Transact = async (run) => await db.transaction().execute(run);
      return { database, db, transact, chain: createAuditChain(transact, auditKey) };
    },
  });
  const answers = createAnswers(records, state, { driver, auditKey, turn, ballast, onUnwritten });
  /** Those who read the whole chain, between other work. */
  let verifying = 0;

  const retain = createRetentionRounds({
    limits: retention,
    records: () => records.opened,
    chain: () => state.opened?.chain,
    isFree: () => verifying === 0,
  });

  return {
    isParallel: false,
    async open() {
      removeDownload(state.path);
      await records.open();
      await state.open();
      ballast.fill();
    },
    lastId: () => records.opened?.lastId() ?? 0,
    problems: () => [records.problem, state.problem].filter((problem) => problem !== undefined),
    append: async (batch) => await appendBatch(records, batch),
    async sort() {
      if (records.problem !== undefined || records.opened?.backlog.isDue() !== true) return false;
      return await sortOne(records, onUnwritten);
    },
    async ask(name, text) {
      const keeper = isOfState(name) ? state : records;
      if (name === "verifyAudit") verifying += 1;
      try {
        const answer = (answers[name] as (ask: unknown) => unknown)(JSON.parse(text));
        return JSON.stringify((await answer) ?? null);
      } catch (error) {
        if (isOfFile(error)) await keeper.onError(error);
        throw toRefusal(error, keeper.problem);
      } finally {
        if (name === "verifyAudit") verifying -= 1;
      }
    },
    async look() {
      await records.look();
      await state.look();
      if (records.problem === undefined && state.problem?.kind !== "full") ballast.fill();
    },
    retain,
    async close() {
      records.close();
      state.close();
    },
  };
}

async function sortOne(
  records: DatabaseKeeper<RecordsDatabase>,
  onUnwritten: (rows: number) => void,
): Promise<boolean> {
  try {
    const sorted = records.opened?.backlog.sort();
    if (sorted !== undefined && sorted.refused > 0) onUnwritten(sorted.refused);
    return sorted !== undefined;
  } catch (error) {
    await records.onError(error);
    return false;
  }
}

async function appendBatch(
  records: DatabaseKeeper<RecordsDatabase>,
  batch: Omit<AppendRequest, "kind" | "id">,
): Promise<BatchResult> {
  if (records.makingWay !== undefined) await records.makingWay;
  // A second time: a damaged or replaced file has made way for a new one.
  for (let attempt = 0; attempt < 2 && records.problem === undefined; attempt += 1) {
    const { opened } = records;
    if (opened === undefined) break;
    try {
      const begin = performance.now();
      const refused = opened.append(batch);
      return { written: batch.count - refused, refused, lost: 0, commitMs: performance.now() - begin };
    } catch (error) {
      await records.onError(error);
    }
  }
  return { written: 0, refused: 0, lost: batch.count, commitMs: 0 };
}

type Answers = {
  readonly [Name in QuestionName]: (
    ask: AskOf<Questions[Name]>,
  ) => AnswerOf<Questions[Name]> | Promise<AnswerOf<Questions[Name]>>;
};

interface AnswerParts {
  readonly driver: SqlDriver;
  readonly auditKey: Uint8Array;
  readonly turn: () => Promise<void>;
  readonly ballast: Ballast;
  readonly onUnwritten: (rows: number) => void;
}

function createAnswers(
  records: DatabaseKeeper<RecordsDatabase>,
  state: DatabaseKeeper<SqliteState>,
  { driver, auditKey, turn, ballast, onUnwritten }: AnswerParts,
): Answers {
  const ofRecords = () => use(records).db;

  /** Asked for by who answers: what was refused is told. */
  function sortIn(sort: (backlog: RequestBacklog) => Sorted | undefined): number | undefined {
    const sorted = records.problem === undefined && records.opened !== undefined && sort(records.opened.backlog);
    if (sorted === false || sorted === undefined) return undefined;
    if (sorted.refused > 0) onUnwritten(sorted.refused);
    return sorted.rows;
  }

  /**
   * Writes the rows that a query may find, with room for others between the batches. The newest page needs the newest
   * batch only, and a range of time no batches before it.
   */
  async function sortFor(query: CallQuery): Promise<void> {
    const enough = isNewestPage(query) ? query.limit : Infinity;
    const lowest = Math.max(query.after ?? 0, idAt(query.fromMs ?? 0));
    for (let rows = 0; rows < enough;) {
      if (lowest > 0 && (records.opened?.backlog.lastId() ?? 0) < lowest) return;
      const sorted = sortIn((backlog) => backlog.sort());
      if (sorted === undefined) return;
      rows += sorted;
      await turn();
    }
  }

  async function writeState<T>(write: (opened: StateDatabase) => Promise<T>): Promise<T> {
    // A file that was removed takes entries that will never be found.
    await state.look();
    const opened = use(state);
    try {
      return await write(opened);
    } catch (error) {
      if (!isOutOfRoom(error)) throw error;
      ballast.free();
      return await write(opened);
    }
  }

  async function backUpTo(path: string): Promise<WrittenBackup> {
    await state.look();
    return backUp(use(state).database, path);
  }

  return {
    ...eachAnswer(recordReads, async (read) => await read(ofRecords())),
    ...eachAnswer(stateReads, async (read) => await read(use(state))),
    ...eachAnswer(stateWrites, async (write) => await writeState(write)),
    async calls(query) {
      await sortFor(query);
      return await recordReads.calls(ofRecords(), query);
    },
    async eraseCalls(query) {
      await sortFor(query);
      return await recordReads.eraseCalls(ofRecords(), query);
    },
    async call(id) {
      sortIn((backlog) => backlog.sortAround(id));
      return await recordReads.call(ofRecords(), id);
    },
    backup: async (path) => await backUpTo(path),
    backupAside: async () => await backUpTo(downloadPath(state.path)),
    restore: async (path) => await restoreState(driver, state, path, Date.now()),
    check: () => [checkSqlite("state", driver, state), checkSqlite("records", driver, records)],
    verifyAudit: async () => await verifyAudit(use(state).db, auditKey, turn),
    // No other gateway has these files open.
    lockShared: async () => true,
    unlockShared: async () => undefined,
  };
}

type AnswerFrom<Given> = (given: Given, ask: never) => Promise<unknown>;

/** The same answers, of a question alone: `run` has what they are found in. */
function eachAnswer<Given, Names extends QuestionName>(
  answers: { readonly [Name in Names]: AnswerFrom<Given> },
  run: (answer: (given: Given) => Promise<unknown>) => Promise<unknown>,
): Pick<Answers, Names> {
  const pairs = Object.entries<AnswerFrom<Given>>(answers).map(([name, answer]) => [
    name,
    async (ask: never) => await run(async (given) => await answer(given, ask)),
  ]);
  return Object.fromEntries(pairs) as Pick<Answers, Names>;
}

function use<Opened>(keeper: DatabaseKeeper<Opened>): Opened {
  if (keeper.opened === undefined) throw new Refused(keeper.problem);
  return keeper.opened;
}

/** Whether it asks for the newest calls, whatever they are. */
function isNewestPage({ limit, ...rest }: CallQuery): boolean {
  return Number.isFinite(limit) && Object.values(rest).every((value) => value === undefined);
}

function isOfState(name: QuestionName): boolean {
  return name !== "check" && !Object.hasOwn(recordReads, name);
}

/** Whether it says something of the file, and not of the question. */
function isOfFile(error: unknown): boolean {
  const { corrupt, notDatabase, full, io, readonly } = sqliteCodes;
  return [corrupt, notDatabase, full, io, readonly].includes(sqliteCode(error) ?? -1);
}

/** On the disk, or in pages of the database that are free again. */
function hasRoom(database: SqlDatabase, ballast: Ballast): boolean {
  if (ballast.hasRoom()) return true;
  try {
    const pages = Number(database.prepare("pragma freelist_count").get()?.["freelist_count"]);
    return pages * Number(database.prepare("pragma page_size").get()?.["page_size"]) >= ballastBytes;
  } catch {
    // Without any room a read may fail as well, because it has to note itself beside the database.
    return false;
  }
}
