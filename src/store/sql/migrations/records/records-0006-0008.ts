import { CompiledQuery, sql, type Kysely } from "kysely";

/**
 * Batches of calls wait in another form from now on. Those that an earlier version left, in the seconds after a burst,
 * are written into their rows; damaged ones are left out.
 */
export async function sortOldBacklog(db: Kysely<unknown>, isRowFault: IsRowFault): Promise<void> {
  const write = createRowsWriter(db, isRowFault);
  for (;;) {
    const newest = sql<OldBatch>`select last_id, text from request_backlog order by last_id desc limit 1`;
    const [batch] = (await newest.execute(db)).rows;
    if (batch === undefined) return;
    await write(rowsOf(batch.text));
    await sql`delete from request_backlog where last_id = ${batch.last_id}`.execute(db);
  }
}

/** Whether the database refused a row for its content. */
type IsRowFault = (error: unknown) => boolean;

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

/** Those that have a value for every column. */
function rowsOf(text: string): readonly (readonly unknown[])[] {
  const known: (readonly unknown[])[] = [];
  return parseRows(text)
    .map((row) => valuesOf(row, known))
    .filter((values) => values.length === columns.length && Number.isSafeInteger(values[0]));
}

function parseRows(text: string): readonly OldRow[] {
  try {
    const rows = JSON.parse(text) as unknown;
    return Array.isArray(rows) ? rows.filter((row): row is OldRow => Array.isArray(row)) : [];
  } catch {
    return [];
  }
}

/** @param known what the rows before it had in common, by place; that of this row is added */
function valuesOf([id, atMs, what, ...rest]: OldRow, known: (readonly unknown[])[]): readonly unknown[] {
  if (Array.isArray(what)) known.push(what);
  const [durationMs, waitMs, given, got, outcome = "ok", code = null, isCut = false, traceId = null] = rest;
  const whole = known[typeof what === "number" ? what : known.length - 1] ?? [];
  return [id, atMs, ...whole, outcome, code, durationMs, waitMs, given, got, isCut, traceId];
}

/** In one statement. */
const manyRows = 50;

/**
 * The statements' texts are made once: a million rows may wait, the databases are not open until they are written, and
 * making the text of an insert takes longer than running it.
 */
function createRowsWriter(
  db: Kysely<unknown>,
  isRowFault: IsRowFault,
): (rows: readonly (readonly unknown[])[]) => Promise<void> {
  const [one, many] = [insertText(db, 1), insertText(db, manyRows)];

  async function insert(text: string, values: readonly unknown[]): Promise<boolean> {
    try {
      await db.executeQuery(CompiledQuery.raw(text, [...values]));
      return true;
    } catch (error) {
      if (!isRowFault(error)) throw error;
      return false;
    }
  }

  return async (rows) => {
    for (let from = 0; from < rows.length; from += manyRows) {
      const some = rows.slice(from, from + manyRows);
      // Of a statement that fails nothing is written.
      if (some.length === manyRows && (await insert(many, some.flat()))) continue;
      for (const row of some) await insert(one, row);
    }
  };
}

function insertText(db: Kysely<unknown>, rows: number): string {
  const names = sql.join(columns.map((name) => sql.ref(name)));
  const row = sql`(${sql.join(columns.map(() => sql.val(null)))})`;
  const all = sql.join(Array.from({ length: rows }, () => row));
  return sql`insert into request_log (${names}) values ${all}`.compile(db).sql;
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

/** Where a call was served, and where its server ran. Nullable and without indexes, as the trace. */
export async function addNodes(db: Kysely<unknown>): Promise<void> {
  // SQLite adds one column at a time.
  for (const name of ["node", "server_node"])
    await db.schema.alterTable("request_log").addColumn(name, "text").execute();
}

/** The first line of an error, and the tools that a search found. Nullable: rows that are there are not touched. */
export async function addMessages(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("request_log").addColumn("message", "text").execute();
}
