import type { RecordKind, RecordRows } from "../record-store.ts";
import { callsFromText, createPackedCalls, type WaitingBatch } from "./requests/packed-calls.ts";

/** An empty batch of that kind. */
export function createWaitingBatch<Kind extends RecordKind>(kind: Kind): WaitingBatch<RecordRows[Kind]> {
  return kind === "request" ? (createPackedCalls() as WaitingBatch<never>) : createRowList();
}

export function rowsFromText<Kind extends RecordKind>(kind: Kind, text: string): readonly RecordRows[Kind][] {
  return (kind === "request" ? callsFromText(text) : JSON.parse(text)) as readonly RecordRows[Kind][];
}

function createRowList<Row extends RecordRows[RecordKind]>(): WaitingBatch<Row> {
  let rows: Row[] = [];
  let characters = 0;
  return {
    get rows() {
      return rows.length;
    },
    get characters() {
      return characters;
    },
    add(row, size) {
      rows.push(row);
      characters += size;
    },
    empty(redact) {
      const batch = { text: JSON.stringify(rows.map(redact)), count: rows.length, lastId: 0 };
      rows = [];
      characters = 0;
      return batch;
    },
  };
}

/** SQLite ends a text at the first NUL, and its texts are UTF-8, which has no halves of characters. */
const unstorable = /[\0\p{Surrogate}]/gu;

/** The text as it will be read again. */
export function toStorable(text: string): string {
  return text.replace(unstorable, "\uFFFD");
}
