import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  batchOf,
  createTestStore,
  lineOf,
  requestOf,
  whenOpened,
  type TestStoreOptions,
} from "../../../../test/harness/records.ts";
import { until } from "../../../../test/harness/until.ts";
import type { RequestRecord } from "../../record-rows.ts";
import type { RecordStore } from "../../record-store.ts";
import { prepareRecords, type RecordsDatabase } from "../records/records-database.ts";
import { defaultRetention } from "./retention-limits.ts";
import { loadDriver, type SqlDatabase } from "../sqlite/sql-driver.ts";
import { openSqliteFile } from "../sqlite/sqlite-file.ts";
import { recordsSteps } from "../sqlite/schema-steps.ts";

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

const callsOf = (rows: readonly RequestRecord[]) => ({ rows: "request" as const, ...batchOf("request", rows) });

const rowsIn = (database: SqlDatabase): number =>
  Number(database.prepare("select count(*) as rows from request_log").get()?.["rows"]);

test("a batch of a burst is kept whole, and its rows are written one batch at a time, the newest first", async () => {
  const records = await openRecords();
  const [first, second] = [rowsOf(1_000), rowsOf(1_050)];
  expect(records.append(callsOf(first))).toBe(0);
  expect(records.append(callsOf(second))).toBe(0);
  expect(rowsIn(records.database)).toBe(0);
  expect(records.backlog.sort()).toEqual({ rows: 1_050, refused: 0 });
  expect(rowsIn(records.database)).toBe(1_050);
  expect(records.backlog.sort()).toEqual({ rows: 1_000, refused: 0 });
  expect(records.backlog.sort()).toBeUndefined();
  const written = records.database.prepare("select id from request_log order by id").all();
  expect(written.map(({ id }) => id)).toEqual([...first, ...second].map(({ id }) => id));
});

test("few calls, and calls with what was said in them, are written at once", async () => {
  const records = await openRecords();
  const body = { arguments: "{}", areArgumentsCut: false, result: "{}", isResultCut: false };
  records.append(callsOf(rowsOf(799)));
  records.append(callsOf(rowsOf(1_500, { body })));
  expect(rowsIn(records.database)).toBe(2_299);
  expect(records.backlog.sort()).toBeUndefined();
});

test("a row that the database refuses is counted, and the others of its batch are written", async () => {
  const records = await openRecords();
  const rows = rowsOf(1_000);
  records.append(
    callsOf([...rows.slice(0, 250), { ...(rows[250] as RequestRecord), server: null as never }, ...rows.slice(251)]),
  );
  expect(records.backlog.sort()).toEqual({ rows: 1_000, refused: 1 });
  expect(rowsIn(records.database)).toBe(999);
});

test.each([
  ["is no JSON", '\n{"whats":'],
  ["is no batch", "7"],
  ["has a part of a number", 'AAAA\n{"whats":[],"odds":[]}'],
  ["has numbers that are none", `${"/".repeat(1_024)}\n{"whats":[[]],"odds":[]}`],
  ["has no rows", '\n{"whats":[],"odds":[]}'],
  ["is empty", ""],
])("a kept batch whose text %s is dropped and counted, and the others are written", async (_, text) => {
  const records = await openRecords();
  records.append(callsOf(rowsOf(1_000)));
  records.append(callsOf(rowsOf(1_010)));
  records.append(callsOf(rowsOf(1_020)));
  const damage = "update request_backlog set text = ? where rows = 1010";
  expect(records.database.prepare(damage).run(text)).toBe(1);
  expect(records.backlog.sort()).toEqual({ rows: 1_020, refused: 0 });
  expect(records.backlog.sort()).toEqual({ rows: 1_010, refused: 1_010 });
  expect(records.backlog.sort()).toEqual({ rows: 1_000, refused: 0 });
  expect(records.backlog.sort()).toBeUndefined();
  expect(rowsIn(records.database)).toBe(2_020);
  expect(records.database.prepare("select 1 from request_backlog").get()).toBeUndefined();
});

test.each([
  ["refers to nothing", -5, 99],
  ["has no time", -6, Number.NaN],
  ["has an infinite duration", -4, Infinity],
  ["has less than no tokens", -1, -Infinity],
])("a row of a kept batch that %s is counted", async (_, place, value) => {
  const records = await openRecords();
  const batch = callsOf(rowsOf(1_000));
  const [packed = "", words] = batch.text.split("\n");
  const numbers = new Float64Array(Uint8Array.from(Buffer.from(packed, "base64")).buffer);
  numbers[numbers.length + place] = value;
  const text = `${Buffer.from(numbers.buffer).toString("base64")}\n${words}`;
  records.append({ ...batch, text });
  expect(records.backlog.sort()).toEqual({ rows: 1_000, refused: 1 });
  expect(rowsIn(records.database)).toBe(999);
});

test("batches that an earlier version left are written into their rows, but for what is damaged in them", async () => {
  const driver = loadDriver(tmpdir());
  const path = join(folder, "records.db");
  const migrations = Object.fromEntries(Object.entries(recordsSteps).slice(0, 5));
  const earlier = await openSqliteFile({ driver, path, migrations, synchronous: "normal" });
  const keep = earlier.database.prepare("insert into request_backlog (last_id, rows, text) values (?, ?, ?)");
  const what = [null, "p", "c", "i", "s", "mcp", "tools/call", "s:tool"];
  const odd = ["failed", "TIMEOUT", true, "ab".repeat(16), null];
  const rows = [
    [1, 10, what, 1.5, 2, 3, 4],
    [2, 20, 0, 1, 2, 3, 4, ...odd],
    [3, 30, 7, 1, 2, 3, 4],
    [4, 40, 0],
  ];
  keep.run(4, 4, JSON.stringify(rows));
  keep.run(5, 1, "no JSON");
  keep.run(6, 3, JSON.stringify([[6, 60, what, 1, 2, 3, 4], null, [7, 70, {}, 1, 2, 3, 4]]));
  keep.run(8, 1, "{}");
  earlier.close();
  const store = await openStore();
  const common = { principal: "p", client: "c", instance: "i", server: "s", name: "s:tool", waitMs: 2, team: null };
  expect((await store.calls({ limit: 10 })).rows).toMatchObject([
    { id: 7, atMs: 70, ...common },
    { id: 6, atMs: 60, ...common, durationMs: 1, argumentTokens: 3, resultTokens: 4 },
    { id: 2, atMs: 20, ...common, outcome: "failed", code: "TIMEOUT", isResultCut: true, traceId: "ab".repeat(16) },
    { id: 1, atMs: 10, ...common, outcome: "ok", code: null, durationMs: 1.5, argumentTokens: 3, resultTokens: 4 },
  ]);
  expect(store.health().problems).toEqual([]);
});

test("many batches that an earlier version left are written whole, but for the rows that cannot be", async () => {
  const driver = loadDriver(tmpdir());
  const path = join(folder, "records.db");
  const migrations = Object.fromEntries(Object.entries(recordsSteps).slice(0, 5));
  const earlier = await openSqliteFile({ driver, path, migrations, synchronous: "normal" });
  const keep = earlier.database.prepare("insert into request_backlog (last_id, rows, text) values (?, ?, ?)");
  const what = [null, "p", "c", "i", "s", "mcp", "tools/call", "s:tool"];
  const nameless = [null, "p", "c", "i", "s", "mcp", "tools/call", null];
  earlier.database.exec("begin");
  for (let first = 1; first <= 30_000; first += 1_003) {
    // The first of two in one statement has no name; the other one's id is there already.
    const rows = Array.from({ length: 1_003 }, (_, at) => [first + at, at, [what, nameless][at] ?? 0, at / 4, 2, 3, 4]);
    rows[120] = [first + 119, 0, 0, 1, 2, 3, 4];
    keep.run(first + 1_002, rows.length, JSON.stringify(rows));
  }
  earlier.database.exec("commit");
  earlier.close();
  const { database } = await openRecords();
  const sums =
    "select count(*) as rows, count(distinct id) as ids, sum(duration_ms) as ms, max(id) as last from request_log";
  const ms = ((1_002 * 1_003) / 2 - 1 - 120) / 4;
  expect(database.prepare(sums).get()).toMatchObject({
    rows: 30 * 1_001,
    ids: 30 * 1_001,
    ms: 30 * ms,
    last: 30 * 1_003,
  });
  expect(database.prepare("select 1 from request_backlog").get()).toBeUndefined();
});

test("calls of a burst are kept whole although lines of their servers come between them", async () => {
  const store = await openStore({ limits: { lookMs: 60_000, batchMs: 60_000, restMs: 60_000 } });
  const append = (calls: number, lines: number): void => {
    for (let at = 0; at < lines; at += 1) store.append("log", lineOf(store));
    for (let at = 0; at < calls; at += 1) store.append("request", requestOf(store));
  };
  const whenSent = async (): Promise<void> => {
    await until(() => store.figures().queuedRows + store.figures().sentRows === 0);
  };
  append(20, 0);
  await whenSent();
  append(995, 5);
  await whenSent();
  const other = loadDriver(tmpdir()).open(join(folder, "records.db"));
  closing.push(() => other.close());
  expect(other.prepare("select sum(rows) as rows from request_backlog").get()).toMatchObject({ rows: 995 });
  expect(rowsIn(other)).toBe(20);
});

test("FAULT 106: a batch that was damaged in the file costs its rows only: they are counted, and the database works", async () => {
  const store = await openStore({ limits: { lookMs: 60_000 } });
  for (let at = 0; at < 2_000; at += 1) store.append("request", requestOf(store));
  await store.flush();
  const other = loadDriver(tmpdir()).open(join(folder, "records.db"));
  closing.push(() => other.close());
  const damaged = Number(other.prepare("select sum(rows) as rows from request_backlog").get()?.["rows"]);
  expect(damaged).toBeGreaterThanOrEqual(1_000);
  other.exec("update request_backlog set text = 'no JSON'");
  expect((await store.calls({ limit: 1_000 })).rows).toHaveLength(2_000 - damaged);
  await until(() => store.figures().droppedRows.row === damaged);
  const row = requestOf(store);
  store.append("request", row);
  await store.flush();
  expect(await store.call(row.id)).toMatchObject({ id: row.id });
  expect(store.health().problems).toEqual([]);
});

test("ids go on from the highest of a batch that waits", async () => {
  const records = await openRecords();
  const rows = rowsOf(1_000);
  records.append(callsOf(rows));
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
  for (let at = 0; at < 2_000; at += 1) store.append("request", requestOf(store));
  await store.close(10_000);
  const next = await openStore();
  const page = await next.calls({ limit: 1_000 });
  const earlier = await next.calls({ limit: 1_000, before: page.next ?? 0 });
  expect(new Set([...page.rows, ...earlier.rows].map(({ id }) => id)).size).toBe(2_000);
});

test("rows of a burst are written when it is over, although nobody asks", async () => {
  const store = await openStore();
  for (let at = 0; at < 2_000; at += 1) store.append("request", requestOf(store));
  await store.flush();
  const driver = loadDriver(tmpdir());
  const reader = driver.open(join(folder, "records.db"));
  closing.push(() => reader.close());
  await until(() => rowsIn(reader) === 2_000);
});

test("who asks for one call, or for those since some time, waits for no other batches", async () => {
  const records = await openRecords();
  const batches = [rowsOf(1_000), rowsOf(1_000), rowsOf(1_000)];
  for (const batch of batches) records.append(callsOf(batch));
  expect(records.backlog.sortAround(batches[1]?.[200]?.id ?? 0)).toEqual({ rows: 1_000, refused: 0 });
  const written = records.database.prepare("select min(id) as low, max(id) as high from request_log").get();
  expect(written).toEqual({ low: batches[1]?.[0]?.id, high: batches[1]?.at(-1)?.id });
  expect(records.backlog.sortAround((batches[2]?.at(-1)?.id ?? 0) + 1)).toBeUndefined();
});

test("a query that has to write many rows first holds up no rows that come meanwhile", async () => {
  const records = await openRecords();
  // Some seconds of work.
  for (let count = 0; count < 100; count += 1) records.append(callsOf(rowsOf(1_000)));
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
