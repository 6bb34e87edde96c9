import type { RequestRecord } from "../record-rows.ts";
import type { RecordKind, RecordRows } from "../record-store.ts";

// A batch on its way to the worker, as text. Of calls there are many more than of anything else, so they go without
// the names of their fields: half the time in the thread that serves calls.

/** JSON of rows of one kind. */
export function rowsToText<Kind extends RecordKind>(kind: Kind, rows: readonly RecordRows[Kind][]): string {
  return JSON.stringify(kind === "request" ? (rows as readonly RequestRecord[]).map(toValues) : rows);
}

export function rowsFromText<Kind extends RecordKind>(kind: Kind, text: string): readonly RecordRows[Kind][] {
  const rows = JSON.parse(text) as unknown;
  return (
    kind === "request" ? (rows as readonly RequestValues[]).map(fromValues) : rows
  ) as readonly RecordRows[Kind][];
}

type RequestValues = ReturnType<typeof toValues>;

function toValues(row: RequestRecord) {
  return [
    row.id,
    row.atMs,
    row.team,
    row.principal,
    row.client,
    row.instance,
    row.server,
    row.via,
    row.method,
    row.name,
    row.outcome,
    row.code,
    row.durationMs,
    row.waitMs,
    row.argumentTokens,
    row.resultTokens,
    row.isResultCut,
    row.traceId,
    row.body,
  ] as const;
}

function fromValues(values: RequestValues): RequestRecord {
  const [id, atMs, team, principal, client, instance, server, via, method, name, ...rest] = values;
  const [outcome, code, durationMs, waitMs, argumentTokens, resultTokens, isResultCut, traceId, body] = rest;
  const who = { team, principal, client, instance, server, via };
  const figures = { durationMs, waitMs, argumentTokens, resultTokens, isResultCut };
  return { id, atMs, ...who, method, name, outcome, code, ...figures, traceId, body };
}
