import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { RecordKind, RecordStoreOptions, StoreFigures } from "../../record-store.ts";
import type { RecordQueue } from "./record-queue.ts";
import type { SqlClient } from "./sql-client.ts";
import type { BatchResult } from "../sql-messages.ts";

/** Sends what waits in the queue to the worker, in batches. */
export interface RecordSender {
  /** A row was added: sends it with others, or with those that come soon. */
  wake(): void;
  /** Sends everything as soon as the worker takes it; resolves when all that was added before is settled. */
  flush(): Promise<void>;
  onAppended(id: number, result: BatchResult): void;
  /** What was sent and not settled never will be. */
  lose(reason: "worker" | "closed"): void;
  stop(): void;
  readonly commits: Pick<StoreFigures, "commits" | "commitMsSum" | "commitMsMax">;
}

export interface SenderOptions {
  readonly clock: Clock;
  readonly queue: RecordQueue;
  readonly client: Pick<SqlClient, "isRunning" | "wake" | "append">;
  readonly redact: RecordStoreOptions["redact"];
  readonly limits: BatchLimits;
}

export interface BatchLimits {
  /** A row waits no longer than this, when nothing holds the worker up: so much is lost when the process is killed. */
  readonly batchMs: number;
  /** As many rows are sent at once without waiting, unless something was sent just before. */
  readonly batchRows: number;
  /**
   * After something was sent, rows gather for so long, or until there are `longBatchRows`: handing a batch to another
   * thread costs as much as fifty rows in it do, and so does its transaction.
   */
  readonly restMs: number;
  /** The most in one batch. */
  readonly longBatchRows: number;
}

/** Batches that are on their way at once: one is written while the other is being sent. */
const batchesOnTheWay = 2;

export function createRecordSender({ clock, queue, client, redact, limits }: SenderOptions): RecordSender {
  const batches = new Map<number, { readonly kind: RecordKind; readonly rows: number }>();
  const commits = { commits: 0, commitMsSum: 0, commitMsMax: 0 };
  let cancelTimer: (() => void) | undefined;
  let cancelRest: (() => void) | undefined;
  let lastBatch = 0;
  let flushes = 0;

  const isWorthIt = (): boolean =>
    queue.waiting >= (cancelRest === undefined ? limits.batchRows : limits.longBatchRows) &&
    batches.size < batchesOnTheWay;

  function rest(): void {
    cancelRest = clock.after(limits.restMs, () => {
      cancelRest = undefined;
      if (isWorthIt()) sendAll();
    });
  }

  function sendAll(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    if (queue.waiting === 0) return;
    // What waits is sent when it is there.
    if (!client.isRunning) return client.wake();
    for (const kind of queue.waitingKinds()) if (batches.size < batchesOnTheWay) send(kind);
    if (queue.waiting > 0) cancelTimer = clock.after(limits.batchMs, sendAll);
  }

  function send(kind: RecordKind): void {
    const batch = queue.take(kind, (row) => redact(kind, row));
    if (batch === undefined) return;
    if (cancelRest === undefined) rest();
    lastBatch += 1;
    batches.set(lastBatch, { kind, rows: batch.count });
    client.append({ kind: "append", id: lastBatch, rows: kind, ...batch });
  }

  return {
    commits,
    wake() {
      if (isWorthIt()) sendAll();
      else cancelTimer ??= clock.after(limits.batchMs, sendAll);
    },
    async flush() {
      flushes += 1;
      await new Promise<void>((resolve) => {
        queue.whenSettled(resolve);
        sendAll();
      });
      flushes -= 1;
    },
    onAppended(id, result) {
      const batch = batches.get(id);
      if (batch === undefined) return;
      batches.delete(id);
      commits.commits += 1;
      commits.commitMsSum += result.commitMs;
      commits.commitMsMax = Math.max(commits.commitMsMax, result.commitMs);
      queue.settle(batch.kind, result);
      // Fewer may still be joined by others, unless somebody waits for them.
      if (flushes > 0 || isWorthIt()) sendAll();
    },
    lose(reason) {
      for (const { kind, rows } of batches.values()) queue.lose(kind, rows, reason);
      batches.clear();
    },
    stop() {
      cancelTimer?.();
      cancelRest?.();
    },
  };
}
