import { once } from "node:events";
import { jsonAnswer, listHeaders, type Answer, type Headers } from "../answer.ts";
import { toCsv } from "../../../operations/records/csv.ts";
import type { FollowedList, RecordList } from "../../../operations/reply.ts";
import type { Services } from "../../../operations/services.ts";
import { whileAllowed } from "../../../operations/request/tracked.ts";
import { mostPerPage } from "../../../operations/records/record-query.ts";
import type { RestRequest } from "../route.ts";
import { idsPerMs } from "../../../store/record-rows.ts";
import type { ServerResponse } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { sleep } from "../../../kernel/runtime/abort.ts";

/**
 * An export ends after so many rows, or pages that a filter leaves empty: to get more, the reader goes on with the id
 * of the last row as cursor.
 */
const exportLimits = { rows: 100_000, pages: 1_000 };

const types = { ndjson: "application/x-ndjson", csv: "text/csv" } as const;
type Format = keyof typeof types | "json";

/** Answers in the form that `Accept` prefers. An export is answered here; nothing is returned then. */
export async function answerRecords<Row>(
  services: Pick<Services, "track" | "draining">,
  request: RestRequest,
  list: RecordList<Row>,
): Promise<Answer | undefined> {
  const { follow } = list;
  if (follow !== undefined) {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    // A request may come to this only when the stop has begun.
    if (services.draining.aborted) end();
    else services.draining.addEventListener("abort", end);
    return await whileAllowed(
      services,
      { principal: request.principal, signal: abortedWith(request.response, ending) },
      async (signal) => await sendFollowed(request, list, { follow, signal }),
    ).finally(() => services.draining.removeEventListener("abort", end));
  }
  const format = formatOf(request.raw.headers.accept);
  if (format !== "json")
    return await whileAllowed(
      services,
      { principal: request.principal, signal: abortedWith(request.response) },
      async (signal) => await exportRecords(request, list, { format, signal }),
    );
  const { rows, next } = await list.read(list);
  return jsonAnswer(
    { [list.name]: rows.map(list.toJson), nextCursor: next === null ? null : String(next) },
    listHeaders,
  );
}

/** Ends with the reader, or when the reader may not read any more. */
async function sendFollowed<Row>(
  { raw, response, headers }: RestRequest,
  list: RecordList<Row>,
  { follow, signal }: { readonly follow: FollowedList<Row>; readonly signal: AbortSignal },
): Promise<undefined> {
  const begin = (): void => response.writeHead(200, followHead(headers)).flushHeaders();
  if (raw.method === "HEAD") {
    begin();
    return void response.end();
  }
  try {
    await followRecords(list, follow, { writer: response, signal, begin });
  } catch (error) {
    if (!response.headersSent) throw error;
  }
  response.end();
  return undefined;
}

/** Whichever is named first; anything else gets JSON. */
function formatOf(accept = ""): Format {
  const named = /(?:^|[,\s])(application\/(?:x-)?ndjson|text\/csv|application\/json)\s*(?:[;,]|$)/i.exec(accept)?.[1];
  if (named === undefined || /\/json$/i.test(named)) return "json";
  return /csv$/i.test(named) ? "csv" : "ndjson";
}

/**
 * Page by page, so that an export takes no more memory than a page. Nothing is sent before the first page, so that a
 * failure has its status; one that comes later cuts the answer off, which a client sees.
 */
async function exportRecords<Row>(
  { raw, response, headers: own }: RestRequest,
  list: RecordList<Row>,
  { format, signal }: { readonly format: keyof typeof types; readonly signal: AbortSignal },
): Promise<undefined> {
  const toText = (rows: readonly Row[]): string =>
    format === "csv" ? toCsv(rows.map((row) => toCells(list, row))) : rows.map((row) => toLine(list, row)).join("");
  await list.beforeExport?.(format);
  let page = await list.read({ limit: mostPerPage, before: list.before });
  signal.throwIfAborted();
  response.writeHead(200, {
    ...own,
    ...listHeaders,
    "Content-Type": `${types[format]}; charset=utf-8`,
    "Content-Disposition": `attachment; filename="${list.file}.${format}"`,
  });
  if (raw.method === "HEAD") return void response.end();
  if (format === "csv") response.write(toCsv([list.columns]));
  try {
    for (let sent = 0, pages = 1; ; pages += 1) {
      const rows = page.rows.slice(0, exportLimits.rows - sent);
      sent += rows.length;
      if (!response.write(toText(rows))) await once(response, "drain", { signal });
      if (page.next === null || sent >= exportLimits.rows || pages >= exportLimits.pages) break;
      page = await list.read({ limit: mostPerPage, before: page.next });
      signal.throwIfAborted();
    }
    response.end();
  } catch {
    response.destroy();
  }
  return undefined;
}

function toLine<Row>({ toJson }: RecordList<Row>, row: Row): string {
  return `${JSON.stringify(toJson(row))}\n`;
}

function toCells<Row>({ columns, toJson }: RecordList<Row>, row: Row): readonly (string | number)[] {
  const values = toJson(row) as Readonly<Record<string, string | number | boolean | null>>;
  return columns.map((column) => {
    const value = values[column] ?? "";
    return typeof value === "boolean" ? String(value) : value;
  });
}

/** A signal that aborts when the client leaves before it was answered. */
export function abortedWith(response: ServerResponse, controller = new AbortController()): AbortSignal {
  const leave = (): void => {
    if (!response.writableFinished)
      controller.abort(new GatewayError("CALL_CANCELLED", "the client closed the request"));
  };
  // A client that left while its body was judged is not reported again.
  if (response.destroyed) leave();
  else response.on("close", leave);
  return controller.signal;
}

/** Where lines are written: a response, as far as that is needed. */
export interface LineWriter {
  write(text: string): boolean;
  on(event: "drain", listener: () => void): unknown;
}

/** Rows that are held at once, while a reader does not read. 10 MB. */
const mostHeld = 20_000;
/** Rows come in bursts: one look for all of them. */
const gatherMs = 200;
/** Another node writes its rows together, at least every three seconds. Then they are looked for again. */
const elsewhereMs = 3_500;
/** Rows that come so late, by their ids, are still told: other nodes' clocks and databases have their time. */
const lateIds = 10_000 * idsPerMs;

interface Following {
  readonly writer: LineWriter;
  readonly signal: AbortSignal;
  /** Called when the first rows were read: what fails before that is answered with its status. */
  readonly begin: () => void;
}

/** The head of such an answer. */
function followHead(headers: Headers): Headers {
  return { ...headers, ...listHeaders, "Content-Type": "application/x-ndjson; charset=utf-8" };
}

/**
 * Sends what was recorded as lines of JSON, the newest rows with the oldest first, then those that come, until
 * the signal aborts. A line `{"missed":true}` says that more happened than could be sent, and `{"lost":N}` that so many
 * lines were written and not kept until they could be sent.
 */
export async function followRecords<Row>(
  list: RecordList<Row>,
  followed: FollowedList<Row>,
  { writer, signal, begin }: Following,
): Promise<void> {
  const send = async (line: object): Promise<void> => {
    if (!writer.write(`${JSON.stringify(line)}\n`))
      await once(writer as unknown as NodeJS.EventEmitter, "drain", { signal });
  };
  // One at least, to know behind which row the others come.
  const { rows } = await readBack(followed, Math.max(1, followed.newest));
  begin();
  for (const row of followed.newest === 0 ? [] : rows) await send(list.toJson(row));
  const first = rows.at(-1)?.id ?? -1;
  let last = first;
  /** Of the time in which rows of other nodes may come late. */
  const told = new Set<number>();
  // What happened between the last look and now is found by the first one.
  let isMore = true;
  let wake = (): void => undefined;
  const look = (): void => {
    isMore = true;
    wake();
  };
  const stop = followed.events.on(followed.wakenBy, look);
  let isBack = false;
  let again: NodeJS.Timeout | undefined;
  const stopElsewhere = followed.elsewhere?.(followed.wakenBy, () => {
    look();
    again ??= setTimeout(() => {
      again = undefined;
      isBack = true;
      look();
    }, elsewhereMs).unref();
  });
  const wakeUp = (): void => wake();
  using lost = followed.countLost?.();
  signal.addEventListener("abort", wakeUp);
  try {
    while (!signal.aborted) {
      if (!isMore) await new Promise<void>((resolve) => (wake = resolve));
      await sleep(gatherMs, signal);
      isMore = false;
      lost?.begin();
      const isWhole = isBack;
      isBack = false;
      const after = isWhole ? Math.max(first, last - lateIds) : last;
      const whole = await readBack(followed, mostHeld, after);
      const found = { ...whole, rows: whole.rows.filter(({ id }) => !told.has(id)) };
      const lostLines = lost?.end(found.rows) ?? 0;
      if (lost?.isUnsure === true) isMore = true;
      if (lostLines > 0) await send({ lost: lostLines });
      else if (!found.isAll) await send({ missed: true });
      for (const row of found.rows) await send(list.toJson(row));
      last = Math.max(last, found.rows.at(-1)?.id ?? last);
      if (stopElsewhere === undefined) continue;
      if (isWhole) told.clear();
      for (const { id } of whole.rows) if (id > last - lateIds) told.add(id);
    }
  } finally {
    stop();
    stopElsewhere?.();
    clearTimeout(again);
    signal.removeEventListener("abort", wakeUp);
  }
}

/** The newest rows, the oldest of them first. */
async function readBack<Row>(
  { read }: FollowedList<Row>,
  limit: number,
  after?: number,
): Promise<{ readonly rows: readonly (Row & { readonly id: number })[]; readonly isAll: boolean }> {
  const rows: (Row & { readonly id: number })[] = [];
  let before: number | undefined;
  while (rows.length < limit) {
    const later = after === undefined ? {} : { after };
    const page = await read({ limit: Math.min(mostPerPage, limit - rows.length), before, ...later });
    rows.push(...page.rows);
    if (page.next === null) return { rows: rows.toReversed(), isAll: true };
    before = page.next;
  }
  return { rows: rows.toReversed(), isAll: false };
}
