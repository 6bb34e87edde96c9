import { join } from "node:path";
import type { Kysely } from "kysely";
import type { RecordKind, StoreProblem } from "../record-store.ts";
import { createAuditChain, readAudits, verifyAudit, type AuditChain } from "./audit.ts";
import { ballastBytes, createBallast, type Ballast } from "./ballast.ts";
import { createKeeper, type DatabaseKeeper } from "./database-keeper.ts";
import { readEvents } from "./event-rows.ts";
import { recordsSteps, stateSteps } from "./schema-steps.ts";
import { prepareRecords, type RecordsDatabase } from "./records-database.ts";
import { Refused, toRefusal } from "./store-refusal.ts";
import { readCall, readCalls } from "./request-log.ts";
import { retentionSteps } from "./retention.ts";
import { readLogs } from "./server-log.ts";
import { rowsFromText } from "./row-text.ts";
import { sqliteCode, sqliteCodes, type SqlDatabase, type SqlDriver } from "./sql-driver.ts";
import type { BatchResult, QuestionName, Questions, SqlWorkerData } from "./sql-messages.ts";
import { createKysely } from "./sqlite-dialect.ts";
import type { StateTables } from "./tables.ts";
import { readTools } from "./tool-metadata.ts";
import { readUsage } from "./usage.ts";

/**
 * What the worker thread does: both databases, and what is asked of them. One thing at a time, but for `verifyAudit`.
 */
export interface StoreDesk {
  open(): Promise<void>;
  /** The highest id of any record; 0 when it is not known. */
  lastId(): number;
  problems(): readonly StoreProblem[];
  /** @param text the rows, from `rowsToText` */
  append(kind: RecordKind, text: string): Promise<BatchResult>;
  /** JSON for JSON. Throws Refused. */
  ask(name: QuestionName, text: string): Promise<string>;
  /** At files and disk; call it every few seconds. */
  look(): Promise<void>;
  /** Deletes one piece of what is too old. False when there is nothing more, until the next round. */
  retain(): boolean;
  close(): void;
}

export interface StoreDeskOptions {
  readonly driver: SqlDriver;
  readonly data: Pick<SqlWorkerData, "folder" | "auditKey" | "retention">;
  readonly onProblems: () => void;
  /** Lets other work go first. */
  readonly turn: () => Promise<void>;
}

interface StateDatabase {
  readonly db: Kysely<StateTables>;
  readonly chain: AuditChain;
}

export function createStoreDesk({ driver, data, onProblems, turn }: StoreDeskOptions): StoreDesk {
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
  const state = createKeeper<StateDatabase>({
    ...common,
    name: "state",
    synchronous: "full",
    migrations: stateSteps,
    isDisposable: false,
    prepare(database) {
      const db = createKysely<StateTables>(database);
      return { db, chain: createAuditChain(database, db, auditKey) };
    },
  });
  const answers = createAnswers(records, state, { auditKey, turn, ballast });
  let round: ReturnType<typeof retentionSteps>[number][] | undefined;

  return {
    async open() {
      await records.open();
      await state.open();
      ballast.fill();
    },
    lastId: () => records.opened?.lastId() ?? 0,
    problems: () => [records.problem, state.problem].filter((problem) => problem !== undefined),
    append: async (kind, text) => await appendBatch(records, kind, text),
    async ask(name, text) {
      const keeper = isOfState(name) ? state : records;
      try {
        const answer = (answers[name] as (ask: unknown) => unknown)(JSON.parse(text));
        return JSON.stringify(await answer);
      } catch (error) {
        if (isOfFile(error)) await keeper.onError(error);
        throw toRefusal(error, keeper.problem);
      }
    },
    async look() {
      await records.look();
      await state.look();
      if (records.problem === undefined && state.problem?.kind !== "full") ballast.fill();
    },
    retain() {
      const opened = records.opened;
      round = opened === undefined ? [] : (round ?? [...retentionSteps(opened.database, retention, Date.now())]);
      const [step] = round;
      if (step !== undefined && !step()) round.shift();
      if (round.length > 0) return true;
      round = undefined;
      return false;
    },
    close() {
      records.close();
      state.close();
    },
  };
}

async function appendBatch(
  records: DatabaseKeeper<RecordsDatabase>,
  kind: RecordKind,
  text: string,
): Promise<BatchResult> {
  const rows = rowsFromText(kind, text);
  // A second time: a damaged or replaced file has made way for a new one.
  for (let attempt = 0; attempt < 2 && records.problem === undefined; attempt += 1) {
    const { opened } = records;
    if (opened === undefined) break;
    try {
      const begin = performance.now();
      const refused = opened.append(kind, rows);
      return { written: rows.length - refused, refused, lost: 0, commitMs: performance.now() - begin };
    } catch (error) {
      await records.onError(error);
    }
  }
  return { written: 0, refused: 0, lost: rows.length, commitMs: 0 };
}

type Answers = {
  readonly [Name in QuestionName]: (
    ask: Questions[Name]["ask"],
  ) => Questions[Name]["answer"] | Promise<Questions[Name]["answer"]>;
};

interface AnswerParts {
  readonly auditKey: Uint8Array;
  readonly turn: () => Promise<void>;
  readonly ballast: Ballast;
}

function createAnswers(
  records: DatabaseKeeper<RecordsDatabase>,
  state: DatabaseKeeper<StateDatabase>,
  { auditKey, turn, ballast }: AnswerParts,
): Answers {
  const ofRecords = () => use(records).db;
  return {
    calls: async (query) => await readCalls(ofRecords(), query),
    call: async (id) => await readCall(ofRecords(), id),
    logs: async (query) => await readLogs(ofRecords(), query),
    events: async (query) => await readEvents(ofRecords(), query),
    usage: async (query) => await readUsage(ofRecords(), query),
    tools: async (installation) => await readTools(ofRecords(), installation),
    audits: async (query) => await readAudits(use(state).db, query),
    verifyAudit: async () => await verifyAudit(use(state).db, auditKey, turn),
    async audit(entries) {
      // A file that is gone takes entries that nobody will ever find.
      await state.look();
      const { chain } = use(state);
      try {
        return chain.append(entries);
      } catch (error) {
        if (sqliteCode(error) !== sqliteCodes.full) throw error;
        ballast.free();
        return chain.append(entries);
      }
    },
  };
}

function use<Opened>(keeper: DatabaseKeeper<Opened>): Opened {
  if (keeper.opened === undefined) throw new Refused(keeper.problem);
  return keeper.opened;
}

function isOfState(name: QuestionName): boolean {
  return name === "audit" || name === "audits" || name === "verifyAudit";
}

/** Whether it says something of the file, and not of the question. */
function isOfFile(error: unknown): boolean {
  const { corrupt, notDatabase, full, io, readonly } = sqliteCodes;
  return [corrupt, notDatabase, full, io, readonly].includes(sqliteCode(error) ?? -1);
}

/** On the disk, or in pages of the database that are free again. */
function hasRoom(database: SqlDatabase, ballast: Ballast): boolean {
  if (ballast.hasRoom()) return true;
  const pages = Number(database.prepare("pragma freelist_count").get()?.["freelist_count"]);
  return pages * Number(database.prepare("pragma page_size").get()?.["page_size"]) >= ballastBytes;
}
