import { dropReasons, type DropReason, type RecordKind, type RecordRows } from "../../record-store.ts";
import type { BatchResult } from "../sql-messages.ts";
import type { RowText, WaitingBatch } from "../requests/packed-calls.ts";
import { createWaitingBatch } from "../row-text.ts";

/**
 * Rows on their way to the worker: those that wait here, bounded in number and size, and how many of those that were
 * sent are not written yet. Counts every row that is lost.
 */
export interface RecordQueue {
  readonly waiting: number;
  readonly sent: number;
  readonly written: number;
  readonly dropped: Readonly<Record<DropReason, number>>;
  /** Kinds of which something waits, in the order in which it came. */
  waitingKinds(): readonly RecordKind[];
  /** False when there is no room for it; it is counted. */
  add<Kind extends RecordKind>(kind: Kind, row: RecordRows[Kind]): boolean;
  count(reason: DropReason, rows: number): void;
  /**
   * Takes the oldest batch of a kind out, to be sent; call `settle` or `lose` for as many rows. Undefined when none of
   * it waits, and when it cannot be written as a text: then its rows are lost, and counted.
   */
  take(kind: RecordKind, redact: (row: AnyRow) => AnyRow): RowText | undefined;
  settle(kind: RecordKind, result: BatchResult): void;
  lose(kind: RecordKind, rows: number, reason: DropReason): void;
  /** Drops everything that waits. */
  clear(reason: DropReason): void;
  /** Calls back when every row that was added before is settled or lost; at once when it is. */
  whenSettled(run: () => void): void;
}

export interface QueueLimits {
  /** Rows that wait: what comes in two seconds at ten thousand a second. */
  readonly rows: number;
  /** Characters of all texts that wait. What rows have in common counts for each of them. */
  readonly characters: number;
}

export const defaultQueueLimits: QueueLimits = { rows: 20_000, characters: 32 * 1_024 * 1_024 };

const kinds = [
  "request",
  "log",
  "usage",
  "event",
  "tools",
  "session",
  "spent",
] as const satisfies readonly RecordKind[];

interface Lane {
  readonly rows: RowQueue;
  settled: number;
}

/** @param batchRows the most rows in one batch */
export function createRecordQueue(limits: QueueLimits, batchRows: number): RecordQueue {
  const lanes = createLanes(batchRows);
  const dropped = Object.fromEntries(dropReasons.map((reason) => [reason, 0])) as Record<DropReason, number>;
  const settling = createSettling(lanes);
  let waiting = 0;
  let characters = 0;
  let sent = 0;
  let written = 0;

  function lose(kind: RecordKind, rows: number, reason: DropReason): void {
    sent -= rows;
    dropped[reason] += rows;
    settling.settle(kind, rows);
  }

  return {
    get waiting() {
      return waiting;
    },
    get sent() {
      return sent;
    },
    get written() {
      return written;
    },
    dropped,
    waitingKinds: () => kinds.filter((kind) => !lanes[kind].rows.isEmpty),
    add(kind, row) {
      const size = charactersOf(row);
      if (waiting >= limits.rows || characters + size > limits.characters) {
        dropped.queue += 1;
        return false;
      }
      lanes[kind].rows.add(row, size);
      waiting += 1;
      characters += size;
      return true;
    },
    count: (reason, rows) => void (dropped[reason] += rows),
    take(kind, redact) {
      const lane = lanes[kind].rows;
      const batch = lane.take();
      if (batch === undefined) return undefined;
      const { rows } = batch;
      waiting -= rows;
      sent += rows;
      characters -= batch.characters;
      try {
        const text = batch.empty(redact);
        lane.reuse(batch);
        return text;
      } catch {
        // The sender of a row is serving a call, and one row that cannot be told must not stop those that come after
        // it.
        lose(kind, rows, "row");
        return undefined;
      }
    },
    settle(kind, result) {
      const rows = result.written + result.refused + result.lost;
      sent -= rows;
      written += result.written;
      dropped.row += result.refused;
      dropped.database += result.lost;
      settling.settle(kind, rows);
    },
    lose,
    clear(reason) {
      for (const kind of kinds) {
        const rows = lanes[kind].rows.clear();
        dropped[reason] += rows;
        settling.settle(kind, rows);
      }
      [waiting, characters] = [0, 0];
    },
    whenSettled: (run) => settling.wait(run),
  };
}

/** Rows that are written or lost, and who waits for that. */
interface Settling {
  settle(kind: RecordKind, rows: number): void;
  wait(run: () => void): void;
}

function createSettling(lanes: Readonly<Record<RecordKind, Lane>>): Settling {
  const waiters = new Set<{ readonly targets: Readonly<Record<RecordKind, number>>; readonly run: () => void }>();
  return {
    settle(kind, rows) {
      lanes[kind].settled += rows;
      for (const waiter of [...waiters]) {
        if (kinds.some((name) => lanes[name].settled < waiter.targets[name])) continue;
        waiters.delete(waiter);
        waiter.run();
      }
    },
    wait(run) {
      const targets = Object.fromEntries(kinds.map((kind) => [kind, lanes[kind].rows.added])) as Record<
        RecordKind,
        number
      >;
      if (kinds.every((kind) => lanes[kind].settled >= targets[kind])) run();
      else waiters.add({ targets, run });
    },
  };
}

function createLanes(batchRows: number): Readonly<Record<RecordKind, Lane>> {
  const lanes = kinds.map((kind): [RecordKind, Lane] => [kind, { rows: createRowQueue(kind, batchRows), settled: 0 }]);
  return Object.fromEntries(lanes) as Record<RecordKind, Lane>;
}

/** Of every text in a row: names are the caller's, who may give a URI of a megabyte. */
function charactersOf(row: AnyRow): number {
  if ("body" in row) return charactersOfCall(row);
  let sum = 0;
  for (const value of Object.values(row)) sum += lengthOf(value);
  if ("tools" in row) for (const { path, description } of row.tools) sum += path.length + description.length;
  return sum;
}

/** Written out, because there are many more of them than of anything else. */
function charactersOfCall({ name, method, principal, client, body }: RecordRows["request"]): number {
  const about = lengthOf(name) + lengthOf(method) + lengthOf(principal) + lengthOf(client);
  return body === null ? about : about + body.arguments.length + body.result.length;
}

/** A row with something else in it is for the database to refuse. */
function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}

/** A row of any kind. */
export type AnyRow = RecordRows[RecordKind];

/** Rows of one kind that wait, in the batches in which they will be sent. */
interface RowQueue {
  readonly isEmpty: boolean;
  /** Rows that were ever added. */
  readonly added: number;
  /** @param size characters of all texts in it */
  add(row: AnyRow, size: number): void;
  /** The oldest batch. Undefined when nothing waits. */
  take(): WaitingBatch<AnyRow> | undefined;
  /** One that was taken and emptied: the next rows go into it. */
  reuse(batch: WaitingBatch<AnyRow>): void;
  /** Drops everything that waits. Returns how many rows that were. */
  clear(): number;
}

/** Of all texts in one batch: the worker has room for several copies of so much. */
const batchCharacters = 4 * 1_024 * 1_024;

/** @param batchRows the most rows in one batch */
function createRowQueue(kind: RecordKind, batchRows: number): RowQueue {
  /** The oldest first; only the last one is not full. */
  const batches: WaitingBatch<AnyRow>[] = [];
  /** One that was sent, to be filled again. */
  let spare: WaitingBatch<AnyRow> | undefined;
  let added = 0;

  function openBatch(): WaitingBatch<AnyRow> {
    const last = batches.at(-1);
    if (last !== undefined && last.rows < batchRows && last.characters < batchCharacters) return last;
    const next = spare ?? createWaitingBatch(kind);
    spare = undefined;
    batches.push(next);
    return next;
  }

  return {
    get isEmpty() {
      return batches.length === 0;
    },
    get added() {
      return added;
    },
    add(row, size) {
      openBatch().add(row, size);
      added += 1;
    },
    take: () => batches.shift(),
    reuse: (batch) => void (spare = batch),
    clear: () => batches.splice(0).reduce((sum, batch) => sum + batch.rows, 0),
  };
}
