import { describe, expect, test } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { until } from "../../../../test/harness/until.ts";
import { createEventBus } from "../../../kernel/events/event-bus.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import type { Page } from "../../../store/record-store.ts";
import type { RecordList } from "../../../operations/reply.ts";
import { answerRecords } from "./record-export.ts";

interface Row {
  readonly id: number;
  readonly name: string | null;
  readonly ok: boolean;
}

const open = createResponses();
/** Of whoever exports, in the order in which they began. */
const exporting: AbortController[] = [];
const track = (_principal: unknown, controller: AbortController): (() => void) => {
  exporting.push(controller);
  return () => void exporting.splice(exporting.indexOf(controller), 1);
};
const rowOf = (id: number): Row => ({ id, name: id === 1 ? null : `=n${id}`, ok: id % 2 === 0 });

/** Rows from `newest` down to 1, the newest first, as a store gives them. */
function listOf(newest: number, more: Partial<RecordList<Row>> = {}) {
  const asked: { readonly limit: number; readonly before: number | undefined }[] = [];
  const list: RecordList<Row> = {
    name: "rows",
    columns: ["id", "name", "ok"],
    limit: 2,
    before: undefined,
    file: "toolyard-rows",
    async read({ limit, before }): Promise<Page<Row>> {
      asked.push({ limit, before });
      const first = before === undefined ? newest : before - 1;
      const count = Math.min(limit, first);
      const rows = Array.from({ length: count }, (_, index) => rowOf(first - index));
      return { rows, next: count < first ? first - count + 1 : null };
    },
    toJson: (row) => row,
    ...more,
  };
  return { list, asked };
}

async function ask(
  accept: string | undefined,
  list: RecordList<Row>,
  draining: AbortSignal = new AbortController().signal,
) {
  const { request, response, client, received } = await open(accept === undefined ? {} : { Accept: accept });
  const given = {
    raw: request,
    response,
    headers: { "X-All": "1" },
    params: {},
    query: {},
    body: {},
    bytes: Buffer.alloc(0),
    principal: localPrincipal,
  };
  // It reads from the beginning: an export waits for whoever does not.
  const read = (async () => {
    const reading = await client();
    reading.resume();
    await until(() => reading.closed);
    return { headers: reading.headers, text: received(), isComplete: reading.complete };
  })();
  read.catch(() => undefined);
  return { answer: await answerRecords({ track, draining }, given, list), read };
}

describe("records are given as", () => {
  test.each([
    undefined,
    "*/*",
    "text/html, */*;q=0.8",
    "application/json",
    "application/json, text/csv",
    "text/csvx",
    "application/problem+json",
  ])("a page of JSON for %s", async (accept) => {
    const { list, asked } = listOf(3);
    const { answer } = await ask(accept, list);
    expect(JSON.parse(String(answer?.body))).toEqual({ rows: [rowOf(3), rowOf(2)], nextCursor: "2" });
    expect(asked.map(({ limit }) => limit)).toEqual([2]);
  });

  test.each(["text/csv", "TEXT/CSV;header=present", "text/csv, application/json", "text/html,text/csv"])(
    "CSV for %s",
    async (accept) => {
      const { answer, read } = await ask(accept, listOf(2).list);
      expect(answer).toBeUndefined();
      const { headers, text } = await read;
      expect(text).toBe("id,name,ok\r\n2,'=n2,true\r\n1,,false\r\n");
      expect(headers).toMatchObject({
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": 'attachment; filename="toolyard-rows.csv"',
        "cache-control": "no-store",
        "x-all": "1",
      });
    },
  );

  test.each(["application/x-ndjson", "application/ndjson", "application/x-ndjson;q=1, text/csv"])(
    "lines of JSON for %s",
    async (accept) => {
      const { read } = await ask(accept, listOf(2).list);
      expect((await read).text).toBe(`${JSON.stringify(rowOf(2))}\n${JSON.stringify(rowOf(1))}\n`);
    },
  );
});

test("the last page of JSON has no cursor", async () => {
  const { answer } = await ask(undefined, listOf(2).list);
  expect(JSON.parse(String(answer?.body))).toMatchObject({ nextCursor: null });
});

test("an export has every row once, whatever the limit of a page", async () => {
  const { read } = await ask("application/x-ndjson", listOf(2_500).list);
  const ids = (await read).text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as Row).id);
  expect(ids).toEqual(Array.from({ length: 2_500 }, (_, index) => 2_500 - index));
});

test("an export begins behind the row that is the cursor", async () => {
  const { list, asked } = listOf(9, { before: 3 });
  const { read } = await ask("text/csv", list);
  expect((await read).text.split("\r\n").slice(1, -1)).toEqual(["2,'=n2,true", "1,,false"]);
  expect(asked[0]).toEqual({ limit: 1_000, before: 3 });
});

test("an export ends with the right of whoever asked for it", async () => {
  const whole = listOf(5_000);
  const { read } = await ask("text/csv", {
    ...whole.list,
    async read(page) {
      if (page.before !== undefined) exporting[0]?.abort(new Error("the credential is no longer valid"));
      return await whole.list.read(page);
    },
  });
  const { text, isComplete } = await read;
  expect([isComplete, text.split("\r\n").length < 1_100, exporting]).toEqual([false, true, []]);
  const early = listOf(3, {
    async read() {
      exporting[0]?.abort(new Error("the credential is no longer valid"));
      return await Promise.resolve({ rows: [], next: null });
    },
  });
  await expect(ask("text/csv", early.list)).rejects.toThrow("no longer valid");
});

test("an export ends after 100000 rows", async () => {
  const { list, asked } = listOf(150_000);
  const { read } = await ask("application/x-ndjson", list);
  const { text, isComplete } = await read;
  const lines = text.trimEnd().split("\n");
  expect(isComplete).toBe(true);
  expect(lines).toHaveLength(100_000);
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual(rowOf(50_001));
  expect(asked).toHaveLength(100);
});

test("an export that finds nothing gives up after 1000 pages", async () => {
  let pages = 0;
  const { list } = listOf(0, {
    read: async () => {
      pages += 1;
      return { rows: [], next: 1_000_000 - pages };
    },
  });
  const { read } = await ask("application/x-ndjson", list);
  expect(await read).toMatchObject({ text: "", isComplete: true });
  expect(pages).toBe(1_000);
});

test("a failure before the first page is thrown, one after it cuts the export off", async () => {
  const broken = listOf(5, { read: async () => await Promise.reject(new Error("the disk is gone")) });
  await expect(ask("text/csv", broken.list)).rejects.toThrow("the disk is gone");
  const whole = listOf(5_000);
  const { read } = await ask("text/csv", {
    ...whole.list,
    read: async (page) =>
      page.before === undefined ? await whole.list.read(page) : await Promise.reject(new Error("the disk is gone")),
  });
  expect((await read).isComplete).toBe(false);
});

test.each([
  ["begins to stop", false],
  ["stops already", true],
])(
  "rows that are followed end when the gateway %s, so that the stop does not wait for their reader",
  async (_what, isEarly) => {
    const draining = new AbortController();
    const { list } = listOf(0);
    const events = createEventBus(() => undefined);
    let isRead = false;
    const read: typeof list.read = async (page) => {
      isRead = true;
      return await list.read(page);
    };
    const follow = { newest: 0, wakenBy: ["mcp.server.logs"], events, read } as const;
    if (isEarly) draining.abort();
    const asked = ask(undefined, { ...list, follow }, draining.signal);
    await until(() => isRead);
    draining.abort();
    const { answer, read: received } = await asked;
    expect(answer).toBeUndefined();
    expect(await received).toMatchObject({ text: "", isComplete: true });
  },
);
