import type { RequestRecord } from "../../record-rows.ts";

/** Rows of one kind that wait to be sent together. */
export interface WaitingBatch<Row> {
  readonly rows: number;
  readonly characters: number;
  /** @param size characters of all texts in it */
  add(row: Row, size: number): void;
  /** Gives them as the worker is sent them, with what `redact` makes of every text in them; then there are none. */
  empty(redact: (row: Row) => Row): RowText;
}

/** A batch on its way to the worker: one text is handed over cheaper than a tree of objects. */
export interface RowText {
  /** For `rowsFromText`. */
  readonly text: string;
  readonly count: number;
  /** The highest id of calls; 0 for other kinds, and where what was said in a call has to be written at once. */
  readonly lastId: number;
}

// Calls on their way to the worker. Of them there are many more than of anything else, so they wait as numbers, and
// what they have in common is kept once: rows that wait as objects are looked at by each garbage collection meanwhile,
// and writing their numbers out as JSON takes most of the time that recording them costs.

const whatFields = [
  ...(["team", "principal", "client", "instance", "server", "via", "method", "name"] as const),
  // Batches that an earlier version left have none of these.
  ...(["node", "serverNode"] as const),
] as const;
const oddFields = ["outcome", "code", "isResultCut", "traceId", "body", "message"] as const;
/** Who called what: the same in most calls of a batch. */
type What = Pick<RequestRecord, (typeof whatFields)[number]>;
/** How it ended: the same in nearly all calls. */
type Odd = Pick<RequestRecord, (typeof oddFields)[number]>;

/**
 * The values behind the numbers. A batch as text is its numbers (doubles as this machine has them, in base64), a line
 * feed, and this as JSON. Batches wait in the database too: another form needs a step of the schema.
 */
interface Words {
  /** Values of `whatFields`. */
  readonly whats: readonly (readonly unknown[])[];
  /** Of rows that are not as usual: the place of the row, and values of `oddFields`. */
  readonly odds: readonly (readonly [row: number, ...values: unknown[]])[];
}

/** Numbers of one row: id, time, place of its `What`, duration, wait, tokens of arguments and result. */
const width = 7;
const usual: Odd = { outcome: "ok", code: null, isResultCut: false, traceId: null, body: null, message: null };
/** So many are compared with each row; with more of them in one batch, some stand in it twice. */
const mostCompared = 16;
/** Room of a new pack, in rows: it grows to what a batch has. */
const firstRows = 64;

/** Calls that wait. A pack that was emptied is filled again, so that a burst makes no garbage of its room. */
export function createPackedCalls(): WaitingBatch<RequestRecord> {
  let numbers = new Float64Array(firstRows * width);
  let rows = 0;
  let characters = 0;
  /** The first row of each. */
  let whats: RequestRecord[] = [];
  let odds: [number, RequestRecord][] = [];

  function addWhat(row: RequestRecord): number {
    whats.push(row);
    return whats.length - 1;
  }

  /** Of this batch, for `RequestBatch`. */
  function lastId(): number {
    return odds.some(([, { body }]) => body !== null) ? 0 : (numbers[(rows - 1) * width] ?? 0);
  }

  return {
    get rows() {
      return rows;
    },
    get characters() {
      return characters;
    },
    add(row, size) {
      const at = rows * width;
      if (at === numbers.length) numbers = grown(numbers);
      const place = placeOf(row, whats);
      numbers[at] = row.id;
      numbers[at + 1] = row.atMs;
      numbers[at + 2] = place < 0 ? addWhat(row) : place;
      numbers[at + 3] = row.durationMs;
      numbers[at + 4] = row.waitMs;
      numbers[at + 5] = row.argumentTokens;
      numbers[at + 6] = row.resultTokens;
      if (!isUsual(row)) odds.push([rows, row]);
      rows += 1;
      characters += size;
    },
    empty(redact) {
      const packed = Buffer.from(numbers.buffer, 0, rows * width * numbers.BYTES_PER_ELEMENT).toString("base64");
      const words: Words = {
        whats: whats.map((row) => valuesOf(whatFields, redact(row))),
        odds: odds.map(([place, row]) => [place, ...valuesOf(oddFields, redact(row))]),
      };
      // Not a string in the JSON: looking through it for what has to be escaped takes longer than all the rest.
      const batch = { text: `${packed}\n${JSON.stringify(words)}`, count: rows, lastId: lastId() };
      rows = 0;
      characters = 0;
      whats = [];
      odds = [];
      return batch;
    },
  };
}

function grown(numbers: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
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
      row.team === other.team &&
      row.serverNode === other.serverNode &&
      row.node === other.node
    )
      return place;
  }
  return -1;
}

function isUsual({ outcome, code, isResultCut, traceId, body, message }: Odd): boolean {
  return outcome === "ok" && body === null && code === null && traceId === null && message === null && !isResultCut;
}

function valuesOf(fields: readonly (keyof RequestRecord)[], row: RequestRecord): readonly unknown[] {
  return fields.map((field) => row[field]);
}

/** Throws on a text that is none of `createPackedCalls`; one that is damaged may have rows that cannot be written. */
export function callsFromText(text: string): readonly RequestRecord[] {
  const end = text.indexOf("\n");
  const { whats, odds } = JSON.parse(text.slice(end + 1)) as Words;
  const known = whats.map((values) => named(whatFields, values) as What);
  const oddOf = new Map(odds.map(([row, ...values]) => [row, named(oddFields, values) as Odd]));
  // Copied, because doubles have to begin at a multiple of eight.
  const numbers = new Float64Array(Uint8Array.from(Buffer.from(text.slice(0, Math.max(0, end)), "base64")).buffer);
  return Array.from({ length: numbers.length / width }, (_, row) =>
    toCall(numbers, row * width, known, oddOf.get(row) ?? usual),
  );
}

/** Written out, because this takes a third of the time of copying members by their names. */
function toCall(numbers: Float64Array, at: number, known: readonly What[], odd: Odd): RequestRecord {
  const id = numbers[at] as number;
  // Of a batch that was damaged; its other rows can still be written. SQLite would give a row without an id one.
  const what = (areNumbers(numbers, at) ? known[numbers[at + 2] as number] : undefined) ?? nothing;
  return {
    id,
    atMs: numbers[at + 1] as number,
    team: what.team,
    principal: what.principal,
    client: what.client,
    instance: what.instance,
    server: what.server,
    via: what.via,
    method: what.method,
    name: what.name,
    durationMs: numbers[at + 3] as number,
    waitMs: numbers[at + 4] as number,
    argumentTokens: numbers[at + 5] as number,
    resultTokens: numbers[at + 6] as number,
    outcome: odd.outcome,
    code: odd.code,
    isResultCut: odd.isResultCut,
    traceId: odd.traceId,
    body: odd.body,
    // A batch that an earlier version left has none.
    message: odd.message ?? null,
    node: what.node ?? null,
    serverNode: what.serverNode ?? null,
  } as RequestRecord;
}

const nothing: Partial<What> = {};

/** SQLite takes an infinite one, which nothing can be summed with. */
function areNumbers(numbers: Float64Array, at: number): boolean {
  for (let place = at + 1; place < at + width; place += 1) if (!Number.isFinite(numbers[place])) return false;
  return Number.isSafeInteger(numbers[at]);
}

function named(fields: readonly string[], values: readonly unknown[]): unknown {
  return Object.fromEntries(fields.map((field, at) => [field, values[at]]));
}
