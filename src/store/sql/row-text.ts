import type { RequestRecord } from "../record-rows.ts";
import type { RecordKind, RecordRows } from "../record-store.ts";

// A batch on its way to the worker, as text. Of calls there are many more than of anything else, so they go without the
// names of their fields, and what they have in common stands once: a third of the time in the thread that serves calls,
// and a third of the room where the batch waits to be sorted.

/** JSON of rows of one kind. */
export function rowsToText<Kind extends RecordKind>(kind: Kind, rows: readonly RecordRows[Kind][]): string {
  return JSON.stringify(kind === "request" ? shortened(rows as readonly RequestRecord[]) : rows);
}

export function rowsFromText<Kind extends RecordKind>(kind: Kind, text: string): readonly RecordRows[Kind][] {
  const rows = JSON.parse(text) as unknown;
  return (kind === "request" ? lengthened(rows as readonly CallValues[]) : rows) as readonly RecordRows[Kind][];
}

const whatFields = ["team", "principal", "client", "instance", "server", "via", "method", "name"] as const;
const oddFields = ["outcome", "code", "isResultCut", "traceId", "body"] as const;
/** Who called what: the same in most calls of a batch. */
type What = Pick<RequestRecord, (typeof whatFields)[number]>;
/** How it ended: the same in nearly all calls. */
type Odd = Pick<RequestRecord, (typeof oddFields)[number]>;

/**
 * Id, time, place of the `What` in this batch or a new one, durations, tokens, and what is not as usual. Batches wait
 * in the database too: another form needs another name there.
 */
type CallValues = readonly [
  id: number,
  atMs: number,
  what: number | readonly unknown[],
  durationMs: number,
  waitMs: number,
  argumentTokens: number,
  resultTokens: number,
  ...odd: unknown[],
];

const usual: Odd = { outcome: "ok", code: null, isResultCut: false, traceId: null, body: null };

/** So many are compared with each row; with more of them in one batch, some stand in it twice. */
const mostCompared = 16;

function shortened(rows: readonly RequestRecord[]): readonly CallValues[] {
  const known: What[] = [];
  return rows.map((row) => {
    const place = placeOf(row, known);
    if (place < 0) known.push(row);
    const what = place < 0 ? whatFields.map((field) => row[field]) : place;
    const { id, atMs, durationMs, waitMs, argumentTokens, resultTokens } = row;
    return isUsual(row)
      ? [id, atMs, what, durationMs, waitMs, argumentTokens, resultTokens]
      : [id, atMs, what, durationMs, waitMs, argumentTokens, resultTokens, ...oddFields.map((field) => row[field])];
  });
}

/** The newest first: consecutive calls are often of the same tool. */
function placeOf(row: What, known: readonly What[]): number {
  const oldest = Math.max(0, known.length - mostCompared);
  for (let place = known.length - 1; place >= oldest; place -= 1) {
    const other = known[place] as What;
    if (
      row.name === other.name &&
      row.principal === other.principal &&
      row.client === other.client &&
      row.instance === other.instance &&
      row.via === other.via &&
      row.method === other.method &&
      row.server === other.server &&
      row.team === other.team
    )
      return place;
  }
  return -1;
}

function isUsual({ outcome, code, isResultCut, traceId, body }: Odd): boolean {
  return outcome === "ok" && body === null && code === null && traceId === null && !isResultCut;
}

/** Written out, because this takes a third of the time of copying members by their names. */
function lengthened(rows: readonly CallValues[]): readonly RequestRecord[] {
  const known: What[] = [];
  return rows.map((row) => {
    const what = row[2];
    if (typeof what !== "number") known.push(named(whatFields, what) as What);
    // Of a batch that was damaged; its other rows can still be written.
    const whole = known[typeof what === "number" ? what : known.length - 1] ?? nothing;
    const odd = row.length === usualLength ? usual : (named(oddFields, row.slice(usualLength)) as Odd);
    return {
      id: row[0],
      atMs: row[1],
      team: whole.team,
      principal: whole.principal,
      client: whole.client,
      instance: whole.instance,
      server: whole.server,
      via: whole.via,
      method: whole.method,
      name: whole.name,
      durationMs: row[3],
      waitMs: row[4],
      argumentTokens: row[5],
      resultTokens: row[6],
      outcome: odd.outcome,
      code: odd.code,
      isResultCut: odd.isResultCut,
      traceId: odd.traceId,
      body: odd.body,
    } as RequestRecord;
  });
}

/** Of a row that is as usual. */
const usualLength = 7;
const nothing: Partial<What> = {};

function named(fields: readonly string[], values: readonly unknown[]): unknown {
  return Object.fromEntries(fields.map((field, at) => [field, values[at]]));
}
