import type { RecordKind, RecordRows } from "../record-store.ts";
import { createWaitingBatch } from "./row-text.ts";
import type { WaitingBatch } from "./waiting-batch.ts";

/** A row of any kind. */
export type AnyRow = RecordRows[RecordKind];

/** Rows of one kind that wait, in the batches in which they will be sent. */
export interface RecordLane {
  readonly isEmpty: boolean;
  /** Rows that were ever added. */
  readonly added: number;
  /** @param size characters of what may be long in it */
  add(row: AnyRow, size: number): void;
  /** The oldest batch, which the next rows may go into as soon as it was emptied. Undefined when nothing waits. */
  take(): WaitingBatch<AnyRow> | undefined;
  /** Drops everything that waits. Returns how many rows that were. */
  clear(): number;
}

/** Of bodies and lines in one batch: the worker has room for several copies of so much. */
const batchCharacters = 4 * 1_024 * 1_024;

/** @param batchRows the most rows in one batch */
export function createRecordLane(kind: RecordKind, batchRows: number): RecordLane {
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
    take() {
      const batch = batches.shift();
      if (batch !== undefined) spare = batch;
      return batch;
    },
    clear: () => batches.splice(0).reduce((sum, batch) => sum + batch.rows, 0),
  };
}
