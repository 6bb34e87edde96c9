import type { Clock } from "../../kernel/clock.ts";
import { createRecordIds } from "../record-ids.ts";
import type {
  RecordKind,
  RecordRows,
  RecordStore,
  RecordStoreOptions,
  StoreFigures,
  StoreHealth,
  StoreProblem,
} from "../record-store.ts";
import { createRecordQueue, defaultQueueLimits, type QueueLimits } from "./record-queue.ts";
import { defaultRetention, type RetentionLimits } from "./retention.ts";
import { createSqlClient } from "./sql-client.ts";
import type { BatchResult, SqlReply } from "./sql-messages.ts";

export interface SqlStoreOptions extends RecordStoreOptions {
  readonly clock: Clock;
  /** The worker's entry file, `sql-worker`. */
  readonly workerFile: URL;
  readonly limits?: Partial<SqlStoreLimits>;
}

export interface SqlStoreLimits {
  readonly queue: QueueLimits;
  readonly retention: RetentionLimits;
  /** A row waits no longer than this, when nothing holds the worker up: so much is lost when the process is killed. */
  readonly batchMs: number;
  /** As many rows are sent at once without waiting. */
  readonly batchRows: number;
  /** And at most as many when the worker lags. */
  readonly longBatchRows: number;
  /** Questions that wait at once. */
  readonly questions: number;
  /** Of the worker, without SQLite's pages: 500 rows with what was said in them take some megabytes. */
  readonly heapMb: number;
  /** As in `SqlWorkerData`. */
  readonly lookMs: number;
  readonly retentionMs: number;
  readonly pauseMs: number;
}

const defaultLimits: SqlStoreLimits = {
  queue: defaultQueueLimits,
  retention: defaultRetention,
  batchMs: 3_000,
  batchRows: 20,
  longBatchRows: 500,
  questions: 64,
  heapMb: 128,
  lookMs: 5_000,
  retentionMs: 60_000,
  pauseMs: 50,
};

/** Batches that are on their way at once: one is written while the other is being sent. */
const batchesOnTheWay = 2;

/** Records and audit in SQLite, in a worker thread that is started at once and waited for by nobody. */
export function createSqlStore(options: SqlStoreOptions): RecordStore {
  const { clock, folder, auditKey, redact, workerFile } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const ids = createRecordIds(() => clock.now());
  const queue = createRecordQueue(limits.queue);
  const board = createHealthBoard();
  const batches = new Map<number, { readonly kind: RecordKind; readonly rows: number }>();
  const commits = { commits: 0, commitMsSum: 0, commitMsMax: 0 };
  let cancelTimer: (() => void) | undefined;
  let lastBatch = 0;
  let flushes = 0;
  let closing: Promise<void> | undefined;

  const client = createSqlClient({
    clock,
    workerFile,
    data: {
      folder,
      auditKey,
      retention: limits.retention,
      lookMs: limits.lookMs,
      retentionMs: limits.retentionMs,
      pauseMs: limits.pauseMs,
    },
    heapMb: limits.heapMb,
    questions: limits.questions,
    onReply,
    onLost(problem) {
      for (const { kind, rows } of batches.values()) queue.lose(kind, rows, "worker");
      batches.clear();
      board.lose(problem);
      if (problem.kind === "driver") queue.clear("database");
    },
  });

  function onReply(reply: Extract<SqlReply, { kind: "opened" | "problems" | "appended" }>): void {
    if (reply.kind === "opened") {
      ids.follow(reply.lastId);
      board.open();
      sendAll();
    } else if (reply.kind === "problems") board.set(reply.problems);
    else onAppended(reply.id, reply);
  }

  function onAppended(id: number, result: BatchResult): void {
    const batch = batches.get(id);
    if (batch === undefined) return;
    batches.delete(id);
    commits.commits += 1;
    commits.commitMsSum += result.commitMs;
    commits.commitMsMax = Math.max(commits.commitMsMax, result.commitMs);
    queue.settle(batch.kind, result);
    sendFull();
  }

  /** Whole batches; all that waits when somebody waits for that. */
  function sendFull(): void {
    if (flushes > 0) return sendAll();
    if (queue.waiting >= limits.batchRows) sendAll();
  }

  function sendAll(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    if (!client.isRunning) return;
    for (const kind of queue.waitingKinds()) if (batches.size < batchesOnTheWay) send(kind);
    if (queue.waiting > 0) cancelTimer = clock.after(limits.batchMs, sendAll);
  }

  function send<Kind extends RecordKind>(kind: Kind): void {
    const rows = queue.take(kind, limits.longBatchRows) as readonly RecordRows[Kind][];
    const text = JSON.stringify(rows.map((row) => redact(kind, row)));
    lastBatch += 1;
    batches.set(lastBatch, { kind, rows: rows.length });
    client.append({ kind: "append", id: lastBatch, rows: kind, text });
  }

  function append<Kind extends RecordKind>(kind: Kind, row: RecordRows[Kind]): boolean {
    if (closing !== undefined || board.hasNoRecords()) {
      queue.count(closing === undefined ? "database" : "closed", 1);
      return false;
    }
    if (!queue.add(kind, row)) return false;
    if (queue.waiting >= limits.batchRows && batches.size < batchesOnTheWay) sendAll();
    else cancelTimer ??= clock.after(limits.batchMs, sendAll);
    return true;
  }

  async function flush(): Promise<void> {
    flushes += 1;
    await new Promise<void>((resolve) => {
      queue.whenSettled(resolve);
      sendAll();
    });
    flushes -= 1;
  }

  async function close(deadlineMs: number): Promise<void> {
    let cancel = (): void => undefined;
    const deadline = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      cancel = () => clearTimeout(timer);
    });
    const flushed = client.isRunning ? flush() : Promise.resolve();
    await Promise.race([flushed, deadline]);
    await Promise.race([client.close(), deadline]);
    cancel();
    client.release();
    cancelTimer?.();
    for (const { kind, rows } of batches.values()) queue.lose(kind, rows, "closed");
    batches.clear();
    queue.clear("closed");
    board.close();
  }

  return {
    nextId: () => ids.next(),
    append,
    flush,
    audit: async (entry) => await client.ask("audit", entry),
    calls: async (query) => await client.ask("calls", query),
    call: async (id) => (await client.ask("call", id)) ?? undefined,
    logs: async (query) => await client.ask("logs", query),
    events: async (query) => await client.ask("events", query),
    usage: async (query) => await client.ask("usage", query),
    tools: async (installation) => await client.ask("tools", installation),
    audits: async (query) => await client.ask("audits", query),
    verifyAudit: async () => await client.ask("verifyAudit", null),
    health: () => board.health,
    onHealth: (listener) => board.listen(listener),
    figures: (): StoreFigures => ({
      queuedRows: queue.waiting,
      sentRows: queue.sent,
      writtenRows: queue.written,
      droppedRows: { ...queue.dropped },
      ...commits,
      workerStarts: client.starts,
    }),
    close(deadlineMs) {
      closing ??= close(deadlineMs);
      return closing;
    },
  };
}

/** What is wrong with the store, as the worker and its absence tell it. */
interface HealthBoard {
  readonly health: StoreHealth;
  /** Whether records cannot be written now. */
  hasNoRecords(): boolean;
  open(): void;
  set(problems: readonly StoreProblem[]): void;
  lose(problem: StoreProblem): void;
  close(): void;
  listen(listener: (health: StoreHealth) => void): () => void;
}

function createHealthBoard(): HealthBoard {
  const listeners = new Set<(health: StoreHealth) => void>();
  let health: StoreHealth = { status: "opening", problems: [] };
  let noRecords = false;

  function change(next: StoreHealth): void {
    if (health.status === "closed") return;
    health = next;
    noRecords = next.problems.some(({ database, kind }) => database === "records" || kind === "driver");
    for (const listener of listeners) listener(next);
  }

  const statusOf = (problems: readonly StoreProblem[]) => (problems.length === 0 ? "ready" : "degraded");
  return {
    get health() {
      return health;
    },
    hasNoRecords: () => noRecords,
    open() {
      const problems = health.problems.filter(({ database }) => database !== null);
      change({ status: statusOf(problems), problems });
    },
    set(problems) {
      change({ status: health.status === "opening" ? "opening" : statusOf(problems), problems });
    },
    lose: (problem) => change({ status: "degraded", problems: [problem] }),
    close: () => change({ status: "closed", problems: [] }),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
