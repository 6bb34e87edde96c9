import type { RecordKind, RecordRows } from "../../record-store.ts";
import { createWaitingBatch } from "../row-text.ts";
import type { WaitingBatch } from "../requests/waiting-batch.ts";

/** A row of any kind. */
export type AnyRow = RecordRows[RecordKind];

/** Rows of one kind that wait, in the batches in which they will be sent. */
export interface RowQueue {
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
export function createRowQueue(kind: RecordKind, batchRows: number): RowQueue {
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
