import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createTestStore,
  entryOf,
  eventOf,
  lineOf,
  requestOf,
  usageOf,
  whenOpened,
  type TestStoreOptions,
} from "../../../../test/harness/records.ts";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { until } from "../../../../test/harness/until.ts";
import type { RecordStore, StoreHealth } from "../../record-store.ts";

let folder: string;
const stores: RecordStore[] = [];
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-sql-"))));
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

async function open(options?: TestStoreOptions): Promise<RecordStore> {
  const store = createTestStore(folder, options);
  stores.push(store);
  return await whenOpened(store);
}

const allCalls = async (store: RecordStore) => (await store.calls({ limit: 1_000 })).rows;

describe("what is written", () => {
  test("is read as it was written, by the next life too", async () => {
    const store = await open();
    const body = { arguments: '{"a":1}', areArgumentsCut: false, result: "text", isResultCut: true };
    const full = requestOf(store, {
      body,
      outcome: "failed",
      code: "UPSTREAM_TIMEOUT",
      team: "t",
      isResultCut: true,
      traceId: "0af7",
    });
    const plain = requestOf(store, { client: null });
    for (const row of [full, plain]) expect(store.append("request", row)).toBe(true);
    await store.flush();
    expect(await store.call(full.id)).toEqual({ ...full, installation: full.instance });
    expect(await store.call(plain.id)).toEqual({ ...plain, installation: plain.instance });
    expect(await store.call(7)).toBeUndefined();
    await store.close(10_000);
    const next = await open();
    const { body: _, ...listed } = full;
    expect((await next.calls({ limit: 10 })).rows[1]).toEqual({
      ...listed,
      installation: full.instance,
      hasBody: true,
    });
    expect(next.nextId()).toBeGreaterThan(plain.id);
  });

  test("leaves no backup behind that a killed gateway was being asked for", async () => {
    const store = await open();
    const { path, bytes } = await store.upkeep.backupAside();
    expect((await stat(path)).size).toBe(bytes);
    await store.close(10_000);
    await writeFile(`${path}.unfinished`, "the next one");
    const kept = join(folder, "state.db.before-1");
    await writeFile(kept, "somebody's");
    await whenOpened(await open());
    const left = (await readdir(folder)).filter((name) => name.startsWith("state.db."));
    expect(left).toEqual(["state.db.before-1"]);
  });

  test("is for its owner only", async () => {
    const store = await open();
    store.append("request", requestOf(store));
    await store.flush();
    await store.audit(entryOf());
    for (const name of [
      "records.db",
      "records.db-wal",
      "records.db-shm",
      "records.db.ballast",
      "state.db",
      "state.db-wal",
    ])
      expect([name, (await stat(join(folder, name))).mode & 0o777]).toEqual([name, 0o600]);
  });

  test("keeps its order, over many batches of all kinds", async () => {
    const store = await open({ limits: { batchRows: 7 } });
    const ids: number[] = [];
    for (let at = 0; at < 500; at += 1) {
      const row = requestOf(store, { name: `t:${at}` });
      ids.push(row.id);
      store.append("request", row);
      store.append("event", eventOf(store, { detail: `{"at":${at}}` }));
    }
    await store.flush();
    expect((await allCalls(store)).map(({ id }) => id)).toEqual(ids.toReversed());
    const { rows } = await store.events({ limit: 1_000 });
    expect(rows.map(({ detail }) => detail)).toEqual(ids.map((_, at) => `{"at":${at}}`).toReversed());
    expect(store.figures()).toMatchObject({ writtenRows: 1_000, queuedRows: 0, sentRows: 0 });
  });

  test("waits for twenty rows or three seconds, and no longer", async () => {
    const clock = createManualClock();
    const store = await open({ clock });
    for (let at = 0; at < 19; at += 1) store.append("request", requestOf(store));
    expect(store.figures()).toMatchObject({ queuedRows: 19, sentRows: 0 });
    store.append("request", requestOf(store));
    expect(store.figures()).toMatchObject({ queuedRows: 0, sentRows: 20 });
    await until(() => store.figures().writtenRows === 20);
    store.append("request", requestOf(store));
    await clock.advance(2_999);
    expect(store.figures().queuedRows).toBe(1);
    await clock.advance(1);
    expect(store.figures().queuedRows).toBe(0);
    await until(() => store.figures().writtenRows === 21);
  });

  test("gathers for a moment after a batch, or until there are many", async () => {
    const clock = createManualClock();
    const store = await open({ clock, limits: { restMs: 200, longBatchRows: 50 } });
    const append = (rows: number): void => {
      for (let at = 0; at < rows; at += 1) store.append("request", requestOf(store));
    };
    append(20);
    append(49);
    expect(store.figures()).toMatchObject({ queuedRows: 49, sentRows: 20 });
    await until(() => store.figures().writtenRows === 20);
    expect(store.figures().queuedRows).toBe(49);
    append(1);
    expect(store.figures()).toMatchObject({ queuedRows: 0, sentRows: 50 });
    append(20);
    await until(() => store.figures().writtenRows === 70);
    expect(store.figures().queuedRows).toBe(20);
    await clock.advance(200);
    await until(() => store.figures().writtenRows === 90);
    expect(store.figures().commits).toBe(3);
    append(5);
    await store.flush();
    expect(store.figures()).toMatchObject({ writtenRows: 95, queuedRows: 0 });
  });

  test("passes the redactor last, before it leaves the thread", async () => {
    const store = await open({
      redact: (kind, row) => (kind === "log" ? { ...row, line: "gone" } : row),
    });
    store.append("log", lineOf(store, { line: "password=hunter2" }));
    await store.flush();
    expect((await store.logs({ limit: 10 })).rows.map(({ line }) => line)).toEqual(["gone"]);
  });

  test("can be any text: NUL and halves of characters become what SQLite can hold", async () => {
    const store = await open();
    for (const line of ["a\0b", "\ud800", "😀 é", ""]) store.append("log", lineOf(store, { line }));
    await store.flush();
    const { rows } = await store.logs({ limit: 10 });
    expect(rows.map(({ line }) => line).toReversed()).toEqual(["a\ufffdb", "\ufffd", "😀 é", ""]);
  });

  test("is refused row by row, and counted", async () => {
    const store = await open();
    const good = requestOf(store);
    const infinite = requestOf(store, { argumentTokens: Number.POSITIVE_INFINITY });
    const odd = requestOf(store, { name: { not: "a text" } as unknown as string });
    for (const row of [good, infinite, odd, { ...good }]) store.append("request", row);
    await store.flush();
    expect((await allCalls(store)).map(({ id }) => id)).toEqual([good.id]);
    expect(store.figures()).toMatchObject({ writtenRows: 1, droppedRows: { row: 3 } });
  });
});

test("more rows than the queue holds are dropped and counted, never waited for", async () => {
  const clock = createManualClock();
  const store = await open({ clock, limits: { queue: { rows: 100, characters: 10_000 } } });
  let taken = 0;
  // Nothing is answered while this runs.
  for (let at = 0; at < 10_000; at += 1) if (store.append("request", requestOf(store))) taken += 1;
  expect(store.figures().queuedRows).toBe(100);
  await store.flush();
  const { writtenRows, droppedRows } = store.figures();
  expect(writtenRows).toBe(taken);
  expect(droppedRows).toEqual({ queue: 10_000 - taken, database: 0, worker: 0, row: 0, closed: 0 });
  expect(await store.usage({ fromMs: 0, toMs: 1, by: [], limit: 1 })).toEqual([]);
  expect(store.append("log", lineOf(store, { line: "x".repeat(10_001) }))).toBe(false);
  expect(store.append("log", lineOf(store, { line: "x".repeat(900) }))).toBe(true);
});

test("names of many kilobytes do not take the memory of the thread that writes them", async () => {
  const store = await open();
  for (let at = 0; at < 1_000; at += 1)
    store.append("request", requestOf(store, { name: `files://${at}/`.padEnd(65_536, "x") }));
  await store.flush();
  const { writtenRows, droppedRows, workerStarts } = store.figures();
  expect({ workerStarts, ...droppedRows, queue: 0 }).toEqual({
    workerStarts: 1,
    queue: 0,
    database: 0,
    worker: 0,
    row: 0,
    closed: 0,
  });
  expect(writtenRows).toBeGreaterThan(400);
  expect(writtenRows + droppedRows.queue).toBe(1_000);
});

test("nothing is taken after the end, and what waited was written before it", async () => {
  const store = await open();
  for (let at = 0; at < 5; at += 1) store.append("request", requestOf(store));
  const closed = store.close(10_000);
  expect(store.append("request", requestOf(store))).toBe(false);
  expect(store.close(1)).toBe(closed);
  await closed;
  expect(store.health().status).toBe("closed");
  expect(store.figures()).toMatchObject({ writtenRows: 5, droppedRows: { closed: 1 } });
  await expect(store.calls({ limit: 1 })).rejects.toMatchObject({ code: "DRAINING" });
  await store.flush();
  const next = await open();
  expect(await allCalls(next)).toHaveLength(5);
});

test("two stores on one file both write everything", async () => {
  const pair = [await open(), await open()];
  await Promise.all(
    pair.map(async (store, which) => {
      for (let at = 0; at < 300; at += 1) {
        await store.audit(entryOf({ object: `${which}/${at}` }));
        store.append("usage", usageOf({ tool: `t${at % 3}` }));
      }
      await store.flush();
    }),
  );
  const [store] = pair;
  expect(await store?.verifyAudit()).toMatchObject({ kind: "whole", entries: 600 });
  const [sum] = (await store?.usage({ fromMs: 0, toMs: 1, by: [], limit: 1 })) ?? [];
  expect(sum).toMatchObject({ calls: 600, durationMsSum: 1_800 });
});

describe("a worker that dies", () => {
  const broken = (first: string) =>
    new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from "node:worker_threads";
        parentPort.on("message", (request) => {
          if (request.kind === "close") parentPort.close();
          else if (request.kind === "append") ${first};
        });
        parentPort.postMessage({ kind: "opened", lastId: 0 });
      `)}`,
    );

  test("is told of and started again, longer apart each time; what it had is dropped and counted", async () => {
    const clock = createManualClock();
    const store = await open({ clock, workerFile: broken('throw new Error("it broke")') });
    const seen: StoreHealth[] = [];
    store.onHealth((health) => seen.push(health));
    for (const delayMs of [1_000, 2_000, 4_000]) {
      const { workerStarts, droppedRows } = store.figures();
      for (let at = 0; at < 20; at += 1) store.append("request", requestOf(store));
      await until(() => store.health().status === "degraded");
      expect(store.health().problems).toMatchObject([{ database: null, kind: "worker" }]);
      expect(store.health().problems[0]?.message).toContain("it broke");
      expect(store.figures().droppedRows.worker).toBe(droppedRows.worker + 20);
      await expect(store.calls({ limit: 1 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await clock.advance(delayMs - 1);
      expect(store.figures().workerStarts).toBe(workerStarts);
      await clock.advance(1);
      expect(store.figures().workerStarts).toBe(workerStarts + 1);
      await until(() => store.health().status === "ready");
    }
    const told = seen.map(({ status }) => status).join(" ");
    expect(told).toBe("degraded ready degraded ready degraded ready");
  });

  test("loses neither what waits nor what comes meanwhile, and questions are refused at once", async () => {
    const clock = createManualClock();
    const store = await open({ clock, workerFile: broken("process.exit(3)") });
    store.append("request", requestOf(store));
    const asked = store.calls({ limit: 1 });
    const flushed = store.flush();
    await expect(asked).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await flushed;
    expect(store.append("request", requestOf(store))).toBe(true);
    expect(store.figures()).toMatchObject({ queuedRows: 1, droppedRows: { worker: 1 } });
  });

  test("does not take the process with it when it has no memory left", async () => {
    const store = await open({ limits: { heapMb: 24 } });
    const tools = Array.from({ length: 200_000 }, (_, at) => ({
      path: `t:${at}`,
      description: "",
      schemaHash: `${at}`,
      tokens: at,
    }));
    store.append("tools", { installation: "i", server: "s", discoveredAtMs: 0, tools });
    await store.flush();
    await until(() => store.figures().workerStarts === 2 && store.health().status === "ready");
    store.append("request", requestOf(store));
    await store.flush();
    expect((await allCalls(store)).length).toBeGreaterThan(0);
  });
});

test("with no SQLite to load, nothing is kept, and the store says so", async () => {
  const driverless = `
    import { parentPort } from "node:worker_threads";
    parentPort.postMessage({ kind: "driverless", message: "no SQLite 3.51.3 or newer" });
    parentPort.close();`;
  const store = await open({ workerFile: new URL(`data:text/javascript,${encodeURIComponent(driverless)}`) });
  expect(store.health()).toMatchObject({ status: "degraded", problems: [{ kind: "driver", database: null }] });
  expect(store.append("request", requestOf(store))).toBe(false);
  await store.flush();
  expect(store.figures()).toMatchObject({ workerStarts: 1, droppedRows: { database: 1 } });
  await expect(store.audit(entryOf())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
