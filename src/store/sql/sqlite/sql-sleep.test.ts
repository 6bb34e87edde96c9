import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, stat, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../../../../test/harness/manual-clock.ts";
import {
  createTestStore,
  entryOf,
  requestOf,
  usageOf,
  whenOpened,
  type TestStoreOptions,
} from "../../../../test/harness/records.ts";
import { until } from "../../../../test/harness/until.ts";
import type { RecordStore, StoreHealth } from "../../record-store.ts";
import { loadDriver } from "./sql-driver.ts";
import { createIdleWatch } from "../thread/idle-watch.ts";

const sleep = { idleMs: 60_000, againMs: 1_000, sleepMs: 3_600_000 };
let folder: string;
let clock: ManualClock;
const stores: RecordStore[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-sleep-"));
  clock = createManualClock();
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

async function open(options?: TestStoreOptions): Promise<RecordStore> {
  const store = createTestStore(folder, { clock, ...options, limits: { sleep, ...options?.limits } });
  stores.push(store);
  return await whenOpened(store);
}

/** Whether this process has a file of the folder open. */
function hasFiles(): boolean {
  return readdirSync("/proc/self/fd").some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${folder}/`);
    } catch {
      return false;
    }
  });
}

/** Nothing is left of the write-ahead log where the last connection was closed in order. */
const isClosed = async (): Promise<boolean> =>
  await stat(join(folder, "records.db-wal")).then(
    () => false,
    () => true,
  );

async function fallAsleep(): Promise<void> {
  await clock.advance(sleep.idleMs);
  await until(isClosed);
}

describe("a worker that nobody needs", () => {
  test("closes its files and ends after a minute, and the store is as ready as before", async () => {
    const store = await open();
    const seen: StoreHealth[] = [];
    store.onHealth((health) => seen.push(health));
    store.append("request", requestOf(store));
    await store.flush();
    await clock.advance(sleep.idleMs - 1);
    expect(await isClosed()).toBe(false);
    await fallAsleep();
    if (process.platform === "linux") await until(() => !hasFiles());
    expect(store.health()).toEqual({ status: "ready", problems: [] });
    expect(store.figures()).toMatchObject({ workerStarts: 1, writtenRows: 1 });
    expect((await store.calls({ limit: 9 })).rows).toHaveLength(1);
    expect(store.figures().workerStarts).toBe(2);
    expect(seen).toEqual([]);
  });

  test("is started again by a row, which waits no longer than any other", async () => {
    const store = await open();
    await fallAsleep();
    store.append("request", requestOf(store));
    await clock.advance(2_999);
    expect(store.figures()).toMatchObject({ workerStarts: 1, queuedRows: 1 });
    await clock.advance(1);
    await until(() => store.figures().writtenRows === 1);
    expect(store.figures()).toMatchObject({ workerStarts: 2, queuedRows: 0 });
    await fallAsleep();
    expect(store.figures().workerStarts).toBe(2);
  });

  test("is started again by an entry of the audit, and the chain goes on", async () => {
    const store = await open();
    for (let seq = 1; seq <= 3; seq += 1) {
      expect((await store.audit(entryOf())).seq).toBe(seq);
      await fallAsleep();
    }
    expect(await store.verifyAudit()).toMatchObject({ kind: "whole", entries: 3 });
    expect(store.figures().workerStarts).toBe(4);
  });

  test("loses nothing of what comes while it goes, nor of what comes before the end", async () => {
    const store = await open();
    for (let round = 1; round <= 20; round += 1) {
      await clock.advance(sleep.idleMs);
      // It is told to close, or on its way, or gone, or awake again.
      for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      store.append("request", requestOf(store));
      const asked = store.audit(entryOf());
      const flushed = store.flush();
      expect((await asked).seq).toBe(round);
      await flushed;
    }
    expect(store.figures()).toMatchObject({ writtenRows: 20, droppedRows: { worker: 0, closed: 0 } });
    await clock.advance(sleep.idleMs);
    store.append("request", requestOf(store));
    const asked = store.audit(entryOf());
    await store.close(10_000);
    expect((await asked).seq).toBe(21);
    expect(store.figures().droppedRows.closed).toBe(0);
    expect((await (await open()).calls({ limit: 100 })).rows).toHaveLength(21);
  });

  test("can be closed while it sleeps", async () => {
    const store = await open();
    await fallAsleep();
    await store.close(10_000);
    expect(store.health().status).toBe("closed");
    expect(store.figures().workerStarts).toBe(1);
    await expect(store.calls({ limit: 1 })).rejects.toMatchObject({ code: "DRAINING" });
  });

  test("wakes after some hours to delete what is too old, and sleeps again", async () => {
    const store = await open({ keep: { eventMs: 1_000 }, limits: { retentionMs: 20 } });
    await clock.advance(sleep.idleMs);
    await until(isClosed);
    const left = loadDriver(folder).open(join(folder, "records.db"));
    left.exec("insert into event (id, at_ms, type, detail) values (1, 1, 'of long ago', '{}')");
    left.close();
    await clock.advance(sleep.sleepMs);
    expect(store.figures().workerStarts).toBe(2);
    await until(async () => (await store.events({ limit: 1 })).rows.length === 0);
    await fallAsleep();
    expect(store.figures().workerStarts).toBe(2);
  });

  test("is given what others have summed up before it goes, and goes when that is written", async () => {
    const store = await open();
    let told = 0;
    const endListening = store.onRest(() => {
      told += 1;
      store.append("usage", usageOf());
    });
    store.append("request", requestOf(store));
    await store.flush();
    await clock.advance(sleep.idleMs);
    await until(() => store.figures().writtenRows === 2);
    await clock.advance(sleep.againMs);
    await until(isClosed);
    expect(told).toBe(1);
    // The next rest is another one, unless nobody wants to know.
    expect(await store.usage({ by: [], fromMs: 0, toMs: 1, limit: 1 })).toMatchObject([{ calls: 1 }]);
    endListening();
    await fallAsleep();
    expect(told).toBe(1);
    expect(store.figures()).toMatchObject({ workerStarts: 2, writtenRows: 2, droppedRows: { worker: 0, closed: 0 } });
  });

  test("goes as early when sums of what happened before are written meanwhile", async () => {
    const store = await open();
    store.append("request", requestOf(store));
    await store.flush();
    await clock.advance(sleep.idleMs - 1_000);
    store.append("usage", usageOf());
    await store.flush();
    await clock.advance(1_000);
    await until(isClosed);
    expect(store.figures().workerStarts).toBe(1);
    // They wake it, and it goes again.
    store.append("usage", usageOf());
    await clock.advance(3_000);
    await until(() => store.figures().writtenRows === 3);
    await fallAsleep();
    expect(store.figures().workerStarts).toBe(2);
  });

  test("stays awake while a database is not in order, and sees it mended", async () => {
    const store = await open();
    await unlink(join(folder, "state.db"));
    await until(() => store.health().status === "degraded");
    await clock.advance(3 * sleep.idleMs);
    store.append("request", requestOf(store));
    await store.flush();
    expect(store.figures()).toMatchObject({ workerStarts: 1, writtenRows: 1 });
  });
});

describe("an idle watch", () => {
  test("calls once, so long after the last use, and begins again with the next", async () => {
    const idleAt: number[] = [];
    const onIdle = (): boolean => idleAt.push(clock.monotonic()) > 0;
    const watch = createIdleWatch({ clock, idleMs: 100, againMs: 100, onIdle });
    watch.touch();
    await clock.advance(60);
    watch.touch();
    await clock.advance(500);
    expect(idleAt).toEqual([160]);
    watch.touch();
    await clock.advance(500);
    expect(idleAt).toEqual([160, 660]);
    watch.touch();
    watch.stop();
    await clock.advance(500);
    expect(idleAt).toHaveLength(2);
  });

  test("asks again where it may not be spared", async () => {
    let left = 3;
    const watch = createIdleWatch({ clock, idleMs: 100, againMs: 100, onIdle: () => (left -= 1) === 0 });
    watch.touch();
    await clock.advance(299);
    expect(left).toBe(1);
    await clock.advance(1_000);
    expect(left).toBe(0);
  });
});
