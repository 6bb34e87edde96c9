import { randomInt, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { workerUrl } from "../../../kernel/runtime/run-worker.ts";
import { createRecordIds, idSlots } from "../records/record-ids.ts";
import type { LinkLimits } from "../postgres/postgres-link.ts";
import { createChangeListeners, type ChangeListeners } from "../postgres/change-listeners.ts";
import type { Asked } from "../../question.ts";
import {
  recordQuestions,
  type AuditPlace,
  type RecordKind,
  type RecordRows,
  type RecordStore,
  type RecordStoreOptions,
  type StoreHealth,
  type StoreProblem,
} from "../../record-store.ts";
import { upkeepQuestions } from "../../store-upkeep.ts";
import { createRecordQueue, defaultQueueLimits, type QueueLimits, type RecordQueue } from "./record-queue.ts";
import { createRecordSender, type BatchLimits } from "./record-sender.ts";
import { defaultRetention, type RetentionLimits } from "../requests/retention-limits.ts";
import { createSharedItems } from "./shared-items.ts";
import { createSqlClient, toAsked, type SqlClient } from "./sql-client.ts";
import type { SleepTimes } from "./worker-lifecycle.ts";
import type { SqlWorkerData } from "../sql-messages.ts";
import {
  createAccessStore,
  createApprovalStore,
  createClaimStore,
  createInstallStore,
  createMemberPinStore,
  createMemberSearchStore,
  createPeopleStore,
} from "./state-stores.ts";

export interface SqlStoreOptions extends RecordStoreOptions {
  readonly clock: Clock;
  /** The worker's entry file; a test may give another. */
  readonly workerFile?: URL;
  /** The URL of a PostgreSQL, where everything is kept instead. */
  readonly database?: string | undefined;
  /** Of its connections. */
  readonly link?: Partial<LinkLimits>;
  /** Where a SQLite of our own is unpacked to, for all gateways of a data directory. Default: below `folder`. */
  readonly driverFolder?: string;
  /** What of the retention is configured. */
  readonly keep?: Partial<RetentionLimits>;
  readonly limits?: Partial<SqlStoreLimits>;
}

export interface SqlStoreLimits
  extends BatchLimits, Pick<SqlWorkerData, "retention" | "lookMs" | "retentionMs" | "pauseMs"> {
  readonly queue: QueueLimits;
  /** Questions that wait at once. */
  readonly questions: number;
  /** Of the worker: see there. */
  readonly sleep: SleepTimes;
  /** Of the worker, without SQLite's pages: a batch with what was said in its calls takes some ten megabytes. */
  readonly heapMb: number;
}

const defaultLimits: SqlStoreLimits = {
  queue: defaultQueueLimits,
  retention: defaultRetention,
  batchMs: 3_000,
  batchRows: 20,
  restMs: 500,
  longBatchRows: 1_000,
  questions: 64,
  sleep: { idleMs: 40_000, againMs: 2_000, sleepMs: 6 * 3_600_000 },
  heapMb: 128,
  lookMs: 5_000,
  retentionMs: 60_000,
  pauseMs: 50,
};

/** Records and state, in a worker thread that is started at once; nothing waits for its start. */
export function createSqlStore(options: SqlStoreOptions): RecordStore {
  const { clock, database, redact } = options;
  const isShared = database !== undefined;
  const workerFile = options.workerFile ?? workerUrl(import.meta.url, "sql-worker");
  const limits = { ...defaultLimits, ...options.limits };
  const ids = createRecordIds(() => clock.now());
  // Until the database says which one is free.
  if (isShared) ids.take(randomInt(idSlots));
  const gatewayId = randomUUID();
  const changes = createChangeListeners(gatewayId);
  const queue = createRecordQueue(limits.queue, limits.longBatchRows);
  const board = createHealthBoard();
  const rests = createRests();
  let closing: Promise<void> | undefined;

  const client = createSqlClient({
    ...{ clock, workerFile },
    data: () => ({ ...toWorkerData(options, limits), gatewayId, after: changes.first }),
    heapMb: limits.heapMb,
    questions: limits.questions,
    sleep: limits.sleep,
    onRest() {
      rests.tell();
      if (queue.waiting > 0) void sender.flush();
    },
    // Where others write as well, somebody has to hear of it.
    maySleep: () => !isShared && board.health.status === "ready" && queue.sent === 0 && queue.waiting === 0,
    onReply(reply) {
      if (reply.kind === "appended") sender.onAppended(reply.id, reply);
      else if (reply.kind === "unwritten") queue.count("row", reply.rows);
      else if (reply.kind === "problems") board.set(reply.problems);
      else if (reply.kind === "slot") ids.take(reply.slot);
      else if (reply.kind === "changed") changes.tell(reply.news);
      else {
        ids.follow(reply.lastId);
        board.open();
        // What waited for a worker.
        void sender.flush();
      }
    },
    onLost(problem) {
      sender.lose("worker");
      board.lose(problem);
      if (problem.kind === "driver") queue.clear("database");
    },
  });
  const sender = createRecordSender({ clock, queue, client, redact, limits });

  function append<Kind extends RecordKind>(kind: Kind, row: RecordRows[Kind]): boolean {
    if (closing !== undefined || board.hasNoRecords()) {
      queue.count(closing === undefined ? "database" : "closed", 1);
      return false;
    }
    const isAdded = queue.add(kind, row);
    if (isAdded) sender.wake();
    return isAdded;
  }

  async function close(deadlineMs: number): Promise<void> {
    const { deadline, cancel } = startDeadline(deadlineMs);
    if (client.isAtHand) await Promise.race([sender.flush(), deadline]);
    await Promise.race([client.close(), deadline]);
    cancel();
    client.release();
    sender.stop();
    sender.lose("closed");
    queue.clear("closed");
    board.close();
  }

  return {
    ...{ isShared, append, nextId: () => ids.next() },
    flush: async () => await sender.flush(),
    ...createQuestions(client, changes),
    access: createAccessStore(client, changes, options.auditKey, isShared),
    health: () => board.health,
    onHealth: (listener) => board.listen(listener),
    onRest: rests.listen,
    figures: () => ({ ...figuresOf(queue), ...sender.commits, workerStarts: client.starts }),
    close(deadlineMs) {
      closing ??= close(deadlineMs);
      return closing;
    },
  };
}

function figuresOf({ waiting, sent, written, dropped }: RecordQueue) {
  return { queuedRows: waiting, sentRows: sent, writtenRows: written, droppedRows: { ...dropped } };
}

function createRests(): { readonly tell: () => void; readonly listen: RecordStore["onRest"] } {
  const listeners = new Set<() => void>();
  return {
    tell() {
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function startDeadline(deadlineMs: number): { readonly deadline: Promise<void>; readonly cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => (timer = setTimeout(resolve, deadlineMs)));
  return { deadline, cancel: () => clearTimeout(timer) };
}

function toWorkerData(
  options: SqlStoreOptions,
  limits: SqlStoreLimits,
): Omit<SqlWorkerData, "buildId" | "gatewayId" | "after"> {
  const { folder, database, link, driverFolder = join(folder, "sqlite"), auditKey, keep } = options;
  const { lookMs, retentionMs, pauseMs } = limits;
  const retention = { ...limits.retention, ...keep };
  return { folder, database, link, driverFolder, auditKey, retention, lookMs, retentionMs, pauseMs };
}

type QuestionsOfStore = Asked<typeof recordQuestions> &
  Pick<
    RecordStore,
    "approvals" | "shared" | "audit" | "claims" | "people" | "installs" | "keptSearches" | "pins" | "upkeep" | "onLoss"
  >;

function createQuestions(client: Pick<SqlClient, "ask">, changes: ChangeListeners): QuestionsOfStore {
  return {
    ...toAsked(client, recordQuestions),
    async audit(entry) {
      const [place] = await client.ask("auditAll", [entry]);
      return place as AuditPlace;
    },
    upkeep: toAsked(client, upkeepQuestions),
    keptSearches: createMemberSearchStore(client),
    pins: createMemberPinStore(client),
    approvals: createApprovalStore(client, changes),
    claims: createClaimStore(client, changes),
    shared: createSharedItems(client, changes),
    people: createPeopleStore(client, changes),
    installs: createInstallStore(client, changes),
    onLoss: changes.onLoss,
  };
}

/** The problems of the store, as the worker and its absence tell them. */
interface HealthBoard {
  readonly health: StoreHealth;
  /** Whether records cannot be written now. */
  hasNoRecords(): boolean;
  /** The worker has tried both databases. */
  open(): void;
  /** The problems of the databases. */
  set(problems: readonly StoreProblem[]): void;
  /** The worker has ended. */
  lose(problem: StoreProblem): void;
  close(): void;
  listen(listener: (health: StoreHealth) => void): () => void;
}

export function createHealthBoard(): HealthBoard {
  const listeners = new Set<(health: StoreHealth) => void>();
  let health: StoreHealth = { status: "opening", problems: [] };
  let noRecords = false;
  /** What the worker was lost for is over when it has opened its databases. */
  let lost: StoreProblem | undefined;

  function change(next: StoreHealth): void {
    if (health.status === "closed") return;
    health = next;
    // Without its thread, they wait for the next one.
    noRecords = next.problems.some(({ database, kind }) => database !== "state" && kind !== "worker");
    for (const listener of listeners) listener(next);
  }

  const statusOf = (problems: readonly StoreProblem[]) => (problems.length === 0 ? "ready" : "degraded");
  return {
    get health() {
      return health;
    },
    hasNoRecords: () => noRecords,
    open() {
      // It was asleep, and nothing has changed.
      if (health.status === "ready") return;
      const problems = health.problems.filter((problem) => problem !== lost);
      change({ status: statusOf(problems), problems });
    },
    set(problems) {
      change({ status: health.status === "opening" ? "opening" : statusOf(problems), problems });
    },
    lose(problem) {
      lost = problem;
      change({ status: "degraded", problems: [problem] });
    },
    close: () => change({ status: "closed", problems: [] }),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
