import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createTestStore,
  lineOf,
  requestOf,
  whenOpened,
  type TestStoreOptions,
} from "../../../test/harness/records.ts";
import { until } from "../../../test/harness/until.ts";
import type { RequestRecord } from "../record-rows.ts";
import type { RecordStore } from "../record-store.ts";
import { prepareRecords, type RecordsDatabase } from "./records-database.ts";
import { defaultRetention } from "./retention-limits.ts";
import { rowsToText } from "./row-text.ts";
import { loadDriver, type SqlDatabase } from "./sql-driver.ts";
import { openSqliteFile } from "./sqlite-file.ts";
import { recordsSteps } from "./schema-steps.ts";

let folder: string;
const stores: RecordStore[] = [];
const closing: (() => void)[] = [];
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-backlog-"))));
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close(10_000);
  for (const close of closing.splice(0)) close();
  await rm(folder, { recursive: true, force: true });
});

async function openStore(options?: TestStoreOptions): Promise<RecordStore> {
  const store = createTestStore(folder, options);
  stores.push(store);
  return await whenOpened(store);
}

/** The databases as the worker has them, without the worker. */
async function openRecords(): Promise<RecordsDatabase> {
  const driver = loadDriver(tmpdir());
  const path = join(folder, "records.db");
  const file = await openSqliteFile({ driver, path, migrations: recordsSteps, synchronous: "normal" } as never);
  closing.push(() => file.close());
  return prepareRecords(file.database, defaultRetention);
}

let ids = 0;
const rowsOf = (count: number, given: Partial<RequestRecord> = {}): RequestRecord[] =>
  Array.from({ length: count }, () => requestOf({ nextId: () => (ids += 1) }, given));

const batchOf = (rows: readonly RequestRecord[], lastId = rows.at(-1)?.id ?? 0) => ({
  rows: "request" as const,
  text: rowsToText("request", rows),
  count: rows.length,
  lastId,
});

const rowsIn = (database: SqlDatabase): number =>
  Number(database.prepare("select count(*) as rows from request_log").get()?.["rows"]);

test("a batch of a burst is kept whole, and its rows are written one batch at a time, the newest first", async () => {
  const records = await openRecords();
  const [first, second] = [rowsOf(400), rowsOf(450)];
  expect(records.append(batchOf(first))).toBe(0);
  expect(records.append(batchOf(second))).toBe(0);
  expect(rowsIn(records.database)).toBe(0);
  expect(records.backlog.sort()).toEqual({ rows: 450, refused: 0 });
  expect(rowsIn(records.database)).toBe(450);
  expect(records.backlog.sort()).toEqual({ rows: 400, refused: 0 });
  expect(records.backlog.sort()).toBeUndefined();
  const written = records.database.prepare("select id from request_log order by id").all();
  expect(written.map(({ id }) => id)).toEqual([...first, ...second].map(({ id }) => id));
});

test("few calls, and calls with what was said in them, are written at once", async () => {
  const records = await openRecords();
  const body = { arguments: "{}", areArgumentsCut: false, result: "{}", isResultCut: false };
  records.append(batchOf(rowsOf(399)));
  records.append(batchOf(rowsOf(500, { body }), 0));
  expect(rowsIn(records.database)).toBe(899);
  expect(records.backlog.sort()).toBeUndefined();
});

test("a row that the database refuses is counted, and the others of its batch are written", async () => {
  const records = await openRecords();
  const rows = rowsOf(500);
  records.append(
    batchOf([...rows.slice(0, 250), { ...(rows[250] as RequestRecord), server: null as never }, ...rows.slice(251)]),
  );
  expect(records.backlog.sort()).toEqual({ rows: 500, refused: 1 });
  expect(rowsIn(records.database)).toBe(499);
});

test.each([
  ["is no JSON", '[[1,2,["a"'],
  ["is no list", "7"],
  ["has a row that is none", "[[1,2,[],0,0,0,0],null]"],
  ["is empty", ""],
])("a kept batch whose text %s is dropped and counted, and the others are written", async (_, text) => {
  const records = await openRecords();
  records.append(batchOf(rowsOf(400)));
  records.append(batchOf(rowsOf(410)));
  records.append(batchOf(rowsOf(420)));
  const damage = "update request_backlog set text = ? where rows = 410";
  expect(records.database.prepare(damage).run(text)).toBe(1);
  expect(records.backlog.sort()).toEqual({ rows: 420, refused: 0 });
  expect(records.backlog.sort()).toEqual({ rows: 410, refused: 410 });
  expect(records.backlog.sort()).toEqual({ rows: 400, refused: 0 });
  expect(records.backlog.sort()).toBeUndefined();
  expect(rowsIn(records.database)).toBe(820);
  expect(records.database.prepare("select 1 from request_backlog").get()).toBeUndefined();
});

test("rows of a kept batch that refer to nothing are counted", async () => {
  const records = await openRecords();
  const batch = batchOf(rowsOf(400));
  const values = JSON.parse(batch.text) as unknown[][];
  values.at(-1)?.splice(2, 1, 99);
  const text = JSON.stringify(values);
  records.append({ ...batch, text });
  expect(records.backlog.sort()).toEqual({ rows: 400, refused: 1 });
  expect(rowsIn(records.database)).toBe(399);
});

test("FAULT 106: a batch that was damaged in the file costs its rows only: they are counted, and the database works", async () => {
  const store = await openStore({ limits: { lookMs: 60_000 } });
  for (let at = 0; at < 1_000; at += 1) store.append("request", requestOf(store));
  await store.flush();
  const other = loadDriver(tmpdir()).open(join(folder, "records.db"));
  closing.push(() => other.close());
  const damaged = Number(other.prepare("select sum(rows) as rows from request_backlog").get()?.["rows"]);
  expect(damaged).toBeGreaterThanOrEqual(400);
  other.exec("update request_backlog set text = 'no JSON'");
  expect((await store.calls({ limit: 1_000 })).rows).toHaveLength(1_000 - damaged);
  await until(() => store.figures().droppedRows.row === damaged);
  const row = requestOf(store);
  store.append("request", row);
  await store.flush();
  expect(await store.call(row.id)).toMatchObject({ id: row.id });
  expect(store.health().problems).toEqual([]);
});

test("ids go on from the highest of a batch that waits", async () => {
  const records = await openRecords();
  const rows = rowsOf(400);
  records.append(batchOf(rows));
  expect(records.lastId()).toBe(rows.at(-1)?.id);
});

test("whoever asks for calls finds those of a burst", async () => {
  const store = await openStore({ limits: { lookMs: 60_000 } });
  const sent = rowsOf(0);
  for (let at = 0; at < 1_500; at += 1) {
    const row = requestOf(store, { name: at === 3 ? "files:rare" : "files:often" });
    sent.push(row);
    store.append("request", row);
  }
  await store.flush();
  // The newest page, a page by a filter, a page before a cursor, one call.
  expect((await store.calls({ limit: 100 })).rows.map(({ id }) => id)).toEqual(
    sent
      .slice(-100)
      .map(({ id }) => id)
      .toReversed(),
  );
  expect((await store.calls({ limit: 100, tool: "files:rare" })).rows).toHaveLength(1);
  expect((await store.calls({ limit: 1_000, before: sent[700]?.id })).rows).toHaveLength(700);
  expect((await store.call(sent[3]?.id ?? 0))?.name).toBe("files:rare");
  expect(store.figures()).toMatchObject({ writtenRows: 1_500, droppedRows: { row: 0, database: 0 } });
});

test("what waited when the gateway ended is found by the next one", async () => {
  const store = await openStore({ limits: { lookMs: 60_000 } });
  for (let at = 0; at < 1_000; at += 1) store.append("request", requestOf(store));
  await store.close(10_000);
  const next = await openStore();
  expect((await next.calls({ limit: 1_000 })).rows).toHaveLength(1_000);
});

test("rows of a burst are written when it is over, although nobody asks", async () => {
  const store = await openStore();
  for (let at = 0; at < 1_000; at += 1) store.append("request", requestOf(store));
  await store.flush();
  const driver = loadDriver(tmpdir());
  const reader = driver.open(join(folder, "records.db"));
  closing.push(() => reader.close());
  await until(() => rowsIn(reader) === 1_000);
});

test("who asks for one call, or for those since some time, waits for no other batches", async () => {
  const records = await openRecords();
  const batches = [rowsOf(400), rowsOf(400), rowsOf(400)];
  for (const batch of batches) records.append(batchOf(batch));
  expect(records.backlog.sortAround(batches[1]?.[200]?.id ?? 0)).toEqual({ rows: 400, refused: 0 });
  const written = records.database.prepare("select min(id) as low, max(id) as high from request_log").get();
  expect(written).toEqual({ low: batches[1]?.[0]?.id, high: batches[1]?.at(-1)?.id });
  expect(records.backlog.sortAround((batches[2]?.at(-1)?.id ?? 0) + 1)).toBeUndefined();
});

test("a query that has to write many rows first holds up no rows that come meanwhile", async () => {
  const records = await openRecords();
  // Some seconds of work.
  for (let count = 0; count < 200; count += 1) records.append(batchOf(rowsOf(500)));
  for (const close of closing.splice(0)) close();
  const store = await openStore();
  const order: string[] = [];
  const found = store.calls({ tool: "files:read", limit: 5 }).then((page) => {
    order.push("query");
    return page;
  });
  store.append("log", lineOf(store));
  const flushed = store.flush().then(() => order.push("rows"));
  await flushed;
  expect((await found).rows).toHaveLength(5);
  expect(order).toEqual(["rows", "query"]);
  expect((await store.calls({ tool: "files:read", limit: 1 })).rows[0]?.id).toBe(ids);
});
