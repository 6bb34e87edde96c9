import { execFileSync } from "node:child_process";
import { existsSync, renameSync } from "node:fs";
import { mkdir, mkdtemp, open as openFile, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createTestStore,
  entryOf,
  lineOf,
  requestOf,
  whenOpened,
  type TestStoreOptions,
} from "../../../../test/harness/records.ts";
import { fillDisk } from "../../../../test/harness/full-disk.ts";
import { until } from "../../../../test/harness/until.ts";
import type { RecordStore, StoreHealth } from "../../record-store.ts";
import { ballastBytes } from "./disk-reserve.ts";
import { loadDriver } from "./sql-driver.ts";

let folder: string;
const stores: RecordStore[] = [];
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-faults-"))));
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close(10_000);
  await rm(folder, { recursive: true, force: true });
});

async function open(options?: TestStoreOptions): Promise<RecordStore> {
  const store = createTestStore(folder, options);
  stores.push(store);
  return await whenOpened(store);
}

/** Writes calls until the file has some pages, and closes it. */
async function fill(rows = 300): Promise<void> {
  const store = await open();
  for (let at = 1; at <= rows; at += 1) {
    store.append("request", requestOf(store));
    if (at % 10_000 === 0) await store.flush();
  }
  await store.audit(entryOf());
  await store.flush();
  await store.close(10_000);
}

const count = async (store: RecordStore): Promise<number> => (await store.calls({ limit: 1_000 })).rows.length;

/** Overwrites the middle of a file, where its tables are. */
async function damage(name: string): Promise<void> {
  const path = join(folder, name);
  const { size } = await stat(path);
  const file = await openFile(path, "r+");
  for (let at = 4_096; at < size; at += 4_096) await file.write(Buffer.alloc(2_000, 0xaa), 0, 2_000, at);
  await file.close();
}

describe("a damaged database", () => {
  test.each([
    ["has damaged pages", async (name: string) => await damage(name)],
    ["is something else", async (name: string) => await writeFile(join(folder, name), "x".repeat(10_000))],
  ])("of records that %s is set aside, and records begin anew", async (_what, destroy) => {
    await fill();
    await destroy("records.db");
    const before = await readFile(join(folder, "records.db"));
    const store = await open();
    expect(store.health()).toEqual({ status: "ready", problems: [] });
    expect(await count(store)).toBe(0);
    store.append("request", requestOf(store));
    await store.flush();
    expect(await count(store)).toBe(1);
    expect((await store.verifyAudit()).entries).toBe(1);
    const aside = (await readdir(folder)).filter((name) => /^records\.db\.damaged-\d+$/.test(name));
    expect(aside).toHaveLength(1);
    expect(await readFile(join(folder, aside[0] ?? ""))).toEqual(before);
  });

  test("of which two are kept already takes the place of the oldest", async () => {
    for (let at = 0; at < 4; at += 1) {
      await writeFile(join(folder, "records.db"), `${at}`.repeat(10_000));
      await (await open()).close(10_000);
    }
    const aside = (await readdir(folder)).filter((name) => name.includes("damaged")).sort();
    const first = await Promise.all(aside.map(async (name) => (await readFile(join(folder, name), "latin1"))[0]));
    expect(first).toEqual(["2", "3"]);
  });

  test("is noticed while it is open, too", async () => {
    // More than a connection keeps in memory.
    await fill(40_000);
    const store = await open();
    const seen: StoreHealth[] = [];
    store.onHealth((health) => seen.push(health));
    await damage("records.db");
    await until(async () => {
      store.append("request", requestOf(store));
      await store.flush();
      await store.calls({ limit: 1_000, client: "nobody" }).catch(() => undefined);
      return seen.length > 0;
    });
    await until(() => store.health().status === "ready");
    expect(seen[0]?.problems).toMatchObject([{ database: "records", kind: "damaged" }]);
    store.append("request", requestOf(store));
    await store.flush();
    expect(await count(store)).toBeGreaterThan(0);
  });

  test("of state is refused with what to do, left as it is, and records go on", async () => {
    await fill();
    await damage("state.db");
    const before = await readFile(join(folder, "state.db"));
    const store = await open();
    expect(store.health()).toMatchObject({ status: "degraded", problems: [{ database: "state", kind: "damaged" }] });
    expect(store.health().problems[0]?.hint).toContain("backup");
    await expect(store.audit(entryOf())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    store.append("request", requestOf(store));
    await store.flush();
    expect(await count(store)).toBe(301);
    expect(await readFile(join(folder, "state.db"))).toEqual(before);
  });
});

/** Makes a newer version's databases of them, as a step does that adds a table and a column. */
function makeNewer(readsFrom: string): void {
  for (const [name, table] of [
    ["records.db", "request_log"],
    ["state.db", "user"],
  ] as const) {
    const database = loadDriver(tmpdir()).open(join(folder, name));
    database.exec(`create table later (id text primary key) strict; alter table ${table} add column later integer;
      insert into kysely_migration values ('0999', '2030');
      update meta set value = '${readsFrom}' where key = 'reads_from'`);
    database.close();
  }
}

test("a database of a newer version that older ones may use is written and read", async () => {
  await fill();
  makeNewer("0007");
  const store = await open();
  expect(store.health().problems).toEqual([]);
  expect(store.append("request", requestOf(store))).toBe(true);
  await store.audit(entryOf());
  expect((await store.calls({ limit: 1 })).rows).toHaveLength(1);
  await store.close(10_000);
  expect((await readdir(folder)).filter((name) => /damaged|before/.test(name))).toEqual([]);
});

test("a database of a newer version that older ones must not use is refused and left alone", async () => {
  await fill();
  makeNewer("0999");
  const store = await open();
  const { problems } = store.health();
  expect(problems.map(({ database, kind }) => [database, kind])).toEqual([
    ["records", "newer"],
    ["state", "newer"],
  ]);
  expect(problems[0]?.message).toContain("it can be used from schema 0999 on, and this version knows 0008");
  expect(store.append("request", requestOf(store))).toBe(false);
  expect(store.figures().droppedRows.database).toBe(1);
  await expect(store.calls({ limit: 1 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(store.audit(entryOf())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect((await readdir(folder)).filter((name) => /damaged|before/.test(name))).toEqual([]);
});

describe("a file that is gone", () => {
  test.each(["deleted", "replaced"])("because it was %s is noticed, and records go on in a new one", async (how) => {
    await fill(5);
    const copy = await readFile(join(folder, "records.db"));
    const store = await open();
    store.append("request", requestOf(store));
    await store.flush();
    const seen: StoreHealth[] = [];
    store.onHealth((health) => seen.push(health));
    if (how === "deleted") await rm(join(folder, "records.db"));
    else {
      await writeFile(join(folder, "new.db"), copy);
      renameSync(join(folder, "new.db"), join(folder, "records.db"));
    }
    await until(() => seen.length >= 2);
    expect(seen[0]?.problems).toMatchObject([{ database: "records", kind: "replaced" }]);
    expect(store.health().status).toBe("ready");
    store.append("request", requestOf(store));
    await store.flush();
    expect(await count(store)).toBe(how === "replaced" ? 6 : 1);
  });

  test("takes no audit entry, until it is put back", async () => {
    const store = await open({ limits: { lookMs: 3_600_000 } });
    await store.audit(entryOf());
    renameSync(join(folder, "state.db"), join(folder, "moved.db"));
    await expect(store.audit(entryOf())).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(store.health().problems).toMatchObject([{ database: "state", kind: "replaced" }]);
    expect(existsSync(join(folder, "state.db"))).toBe(false);
    renameSync(join(folder, "moved.db"), join(folder, "state.db"));
    expect((await store.audit(entryOf())).seq).toBe(2);
    expect(store.health().problems).toEqual([]);
  });
});

test("a place where no file can be is told, and tried again until it can", async () => {
  await mkdir(join(folder, "records.db"));
  const store = await open();
  expect(store.health().problems).toMatchObject([{ database: "records", kind: "failed" }]);
  await rm(join(folder, "records.db"), { recursive: true });
  await until(() => store.health().status === "ready");
  expect(store.append("request", requestOf(store))).toBe(true);
  await store.flush();
  expect(await count(store)).toBe(1);
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;

test.runIf(canMount)(
  "on a full disk records are dropped and counted, the audit goes on, and room mends it",
  async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", folder]);
    try {
      const store = await open();
      const ballast = join(folder, "records.db.ballast");
      expect((await stat(ballast)).size).toBe(ballastBytes);
      await fillDisk(join(folder, "filler"));
      await until(async () => {
        for (let at = 0; at < 100; at += 1)
          store.append("log", lineOf(store, { line: "x".repeat(5_000), instance: `i${at}` }));
        await store.flush();
        return store.health().status === "degraded";
      });
      expect(store.health().problems).toMatchObject([{ database: "records", kind: "full" }]);
      expect(existsSync(ballast)).toBe(false);
      const { droppedRows } = store.figures();
      expect(droppedRows.database).toBeGreaterThan(0);
      expect(store.append("log", lineOf(store))).toBe(false);
      // The ballast's room is for these.
      for (let at = 0; at < 50; at += 1) await store.audit(entryOf());
      expect((await store.logs({ limit: 1 })).rows.length).toBeLessThanOrEqual(1);
      await rm(join(folder, "filler"));
      await until(() => store.health().status === "ready");
      await until(() => existsSync(ballast));
      expect(store.append("log", lineOf(store, { line: "after" }))).toBe(true);
      await store.flush();
      expect((await store.logs({ limit: 1 })).rows[0]?.line).toBe("after");
      expect((await store.verifyAudit()).kind).toBe("whole");
      await store.close(10_000);
    } finally {
      execFileSync("umount", ["-l", folder]);
    }
  },
);

test.runIf(canMount)("on a disk without any room the audit refuses, and says so", async () => {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", folder]);
  try {
    const store = await open();
    await fillDisk(join(folder, "filler"));
    let written = 0;
    const detail = JSON.stringify({ text: "x".repeat(100_000) });
    await until(async () => {
      const problem = await store.audit(entryOf({ detail })).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (problem === undefined) written += 1;
      else expect(problem).toMatchObject({ code: "STORE_FULL" });
      return problem !== undefined;
    });
    // More than nothing: the ballast made room for them.
    expect(written).toBeGreaterThan(5);
    expect(await store.verifyAudit()).toMatchObject({ kind: "whole", entries: written });
    await store.close(10_000);
  } finally {
    execFileSync("umount", ["-l", folder]);
  }
});
