import { once } from "node:events";
import { jsonAnswer, listHeaders, type Answer } from "../answer.ts";
import { toCsv } from "../../../operations/records/csv.ts";
import type { FollowedList, RecordList } from "../../../operations/reply.ts";
import type { Services } from "../../../operations/services.ts";
import { whileAllowed } from "../../../operations/request/tracked.ts";
import { abortedWith } from "./client-gone.ts";
import { mostPerPage } from "../../../operations/records/record-query.ts";
import type { RestRequest } from "../route.ts";
import { followHead, followRecords } from "./record-follow.ts";

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
