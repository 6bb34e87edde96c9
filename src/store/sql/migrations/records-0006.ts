import { sql, type Kysely } from "kysely";
import { isRowFault } from "../row-writer.ts";

/**
 * Batches of calls wait in another form from now on. Those that an earlier version left, in the seconds after a burst,
 * are written into their rows; what is damaged in them is left out.
 */
export async function sortOldBacklog(db: Kysely<unknown>): Promise<void> {
  for (;;) {
    const newest = sql<OldBatch>`select last_id, text from request_backlog order by last_id desc limit 1`;
    const [batch] = (await newest.execute(db)).rows;
    if (batch === undefined) return;
    for (const row of rowsOf(batch.text)) await writeRow(db, row);
    await sql`delete from request_backlog where last_id = ${batch.last_id}`.execute(db);
  }
}

interface OldBatch {
  readonly last_id: number;
  readonly text: string;
}

type OldRow = readonly [
  id: number,
  atMs: number,
  what: number | readonly unknown[],
  durationMs: number,
  waitMs: number,
  argumentTokens: number,
  resultTokens: number,
  ...odd: unknown[],
];

function rowsOf(text: string): readonly (readonly unknown[])[] {
  const known: (readonly unknown[])[] = [];
  try {
    return (JSON.parse(text) as readonly OldRow[]).map(([id, atMs, what, ...rest]) => {
      if (typeof what !== "number") known.push(what);
      const [durationMs, waitMs, given, got, outcome = "ok", code = null, isCut = false, traceId = null] = rest;
      const whole = known[typeof what === "number" ? what : known.length - 1] ?? [];
      return [id, atMs, ...whole, outcome, code, durationMs, waitMs, given, got, isCut, traceId];
    });
  } catch {
    return [];
  }
}

async function writeRow(db: Kysely<unknown>, row: readonly unknown[]): Promise<void> {
  if (row.length !== columns.length || !Number.isSafeInteger(row[0])) return;
  const values = sql.join(row.map((value) => sql.val(value)));
  try {
    await sql`insert into request_log (${sql.join(columns.map((name) => sql.ref(name)))}) values (${values})`.execute(
      db,
    );
  } catch (error) {
    if (!isRowFault(error)) throw error;
  }
}

const columns = [
  "id",
  "at_ms",
  "team",
  "principal",
  "client",
  "instance",
  "server",
  "via",
  "method",
  "name",
  "outcome",
  "code",
  "duration_ms",
  "wait_ms",
  "argument_tokens",
  "result_tokens",
  "result_cut",
  "trace_id",
] as const;
