import { dropReasons, type DropReason, type RecordKind, type RecordRows } from "../record-store.ts";
import type { BatchResult } from "./sql-messages.ts";

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
  /** Takes the oldest rows of a kind out, to be sent; call `settle` or `lose` for as many of them. */
  take(kind: RecordKind, most: number): readonly RecordRows[RecordKind][];
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
  /** Characters of bodies and lines that wait. */
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
  readonly rows: RecordRows[RecordKind][];
  added: number;
  settled: number;
}

export function createRecordQueue(limits: QueueLimits): RecordQueue {
  const lanes = Object.fromEntries(
    kinds.map((kind) => [kind, { rows: [], added: 0, settled: 0 }]),
  ) as unknown as Record<RecordKind, Lane>;
  const dropped = Object.fromEntries(dropReasons.map((reason) => [reason, 0])) as Record<DropReason, number>;
  const waiters = new Set<{ readonly targets: Readonly<Record<RecordKind, number>>; readonly run: () => void }>();
  let waiting = 0;
  let characters = 0;
  let sent = 0;
  let written = 0;

  function settleLane(kind: RecordKind, rows: number): void {
    lanes[kind].settled += rows;
    for (const waiter of [...waiters]) {
      if (kinds.some((name) => lanes[name].settled < waiter.targets[name])) continue;
      waiters.delete(waiter);
      waiter.run();
    }
  }

  function take(kind: RecordKind, most: number): readonly RecordRows[RecordKind][] {
    const rows = lanes[kind].rows.splice(0, most);
    waiting -= rows.length;
    sent += rows.length;
    for (const row of rows) characters -= charactersOf(row);
    return rows;
  }

  function lose(kind: RecordKind, rows: number, reason: DropReason): void {
    sent -= rows;
    dropped[reason] += rows;
    settleLane(kind, rows);
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
    waitingKinds: () => kinds.filter((kind) => lanes[kind].rows.length > 0),
    add(kind, row) {
      const size = charactersOf(row);
      if (waiting >= limits.rows || characters + size > limits.characters) {
        dropped.queue += 1;
        return false;
      }
      const lane = lanes[kind];
      lane.rows.push(row);
      lane.added += 1;
      waiting += 1;
      characters += size;
      return true;
    },
    count(reason, rows) {
      dropped[reason] += rows;
    },
    take,
    settle(kind, result) {
      const rows = result.written + result.refused + result.lost;
      sent -= rows;
      written += result.written;
      dropped.row += result.refused;
      dropped.database += result.lost;
      settleLane(kind, rows);
    },
    lose,
    clear(reason) {
      for (const kind of kinds) lose(kind, take(kind, limits.rows).length, reason);
    },
    whenSettled(run) {
      const targets = Object.fromEntries(kinds.map((kind) => [kind, lanes[kind].added])) as Record<RecordKind, number>;
      if (kinds.every((kind) => lanes[kind].settled >= targets[kind])) run();
      else waiters.add({ targets, run });
    },
  };
}

/** Of what may be long in a row. */
function charactersOf(row: RecordRows[RecordKind]): number {
  if ("line" in row) return row.line.length;
  if ("detail" in row) return row.detail.length;
  if ("tools" in row) return row.tools.reduce((sum, { description }) => sum + description.length, 0);
  if ("body" in row && row.body !== null) return row.body.arguments.length + row.body.result.length;
  return 0;
}
