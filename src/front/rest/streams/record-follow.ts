import { once } from "node:events";
import { sleep } from "../../../kernel/runtime/abort.ts";
import type { FollowedList, RecordList } from "../../../operations/reply.ts";
import { mostPerPage } from "../../../operations/records/record-query.ts";
import { listHeaders, type Headers } from "../answer.ts";

/** Where lines are written: a response, as far as that is needed. */
export interface LineWriter {
  write(text: string): boolean;
  on(event: "drain", listener: () => void): unknown;
}

/** Rows that are held at once, while a reader does not read. 10 MB. */
const mostHeld = 20_000;
/** Rows come in bursts: one look for all of them. */
const gatherMs = 200;

interface Following {
  readonly writer: LineWriter;
  readonly signal: AbortSignal;
  /** Called when the first rows were read: what fails before that is answered with its status. */
  readonly begin: () => void;
}

/** The head of such an answer. */
export function followHead(headers: Headers): Headers {
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
  let last = rows.at(-1)?.id;
  // What happened between the last look and now is found by the first one.
  let isMore = true;
  let wake = (): void => undefined;
  const stop = followed.events.on([followed.event], () => {
    isMore = true;
    wake();
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
      const found = await readBack(followed, mostHeld, last ?? -1);
      const lostLines = lost?.end(found.rows) ?? 0;
      if (lost?.isUnsure === true) isMore = true;
      if (lostLines > 0) await send({ lost: lostLines });
      else if (!found.isAll) await send({ missed: true });
      for (const row of found.rows) await send(list.toJson(row));
      last = found.rows.at(-1)?.id ?? last;
    }
  } finally {
    stop();
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
