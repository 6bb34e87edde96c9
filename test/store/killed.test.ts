import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createRecords } from "../../src/store/sql/migrations/records/records-0001.ts";
import { createState } from "../../src/store/sql/migrations/state/state-0001-0003.ts";
import { recordsSteps, stateSteps } from "../../src/store/sql/sqlite/schema-steps.ts";
import { openSqliteFile, quickCheck } from "../../src/store/sql/sqlite/sqlite-file.ts";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { bundleChild, type BundledChild } from "../harness/bundled-child.ts";
import { createTestStore, entryOf, requestOf, sqlWorkerFile, whenOpened } from "../harness/records.ts";

let migrating: BundledChild;
let recording: BundledChild;
let folder: string;
beforeAll(async () => {
  migrating = await bundleChild("test/store/children/migrating.ts");
  recording = await bundleChild("test/store/children/recording.ts");
});
afterAll(async () => {
  await migrating[Symbol.asyncDispose]();
  await recording[Symbol.asyncDispose]();
});
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-killed-"))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** Runs it to its end, or kills it so many ms after it has begun. Returns whether it came to its end. */
async function migrateAndKill(
  path: string,
  steps: number | "records" | "state",
  killAfterMs: number,
): Promise<boolean> {
  const child = migrating.start(path, String(steps));
  const exit = once(child, "exit");
  let timer: NodeJS.Timeout | undefined;
  if (child.stdout === null) throw new Error("no stdout");
  createInterface(child.stdout).on("line", (line) => {
    if (line === "begin" && killAfterMs < Number.POSITIVE_INFINITY)
      timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  });
  const [code] = (await exit) as [number | null];
  clearTimeout(timer);
  return code === 0;
}

test("a gateway that is killed in the middle of a migration starts again, with all of it or none", async () => {
  const path = join(folder, "records.db");
  const driver = loadDriver(tmpdir());
  let killed = 0;
  for (let attempt = 0; attempt < 14; attempt += 1) {
    await rm(path, { force: true });
    for (const log of ["-wal", "-shm"]) await rm(path + log, { force: true });
    // Half of them when the first tables are made, half in a later step.
    if (attempt % 2 === 1) expect(await migrateAndKill(path, 1, Number.POSITIVE_INFINITY)).toBe(true);
    if (!(await migrateAndKill(path, 4, attempt * 4))) killed += 1;
    if (existsSync(path) && (await stat(path)).size > 0) {
      const database = driver.open(path);
      quickCheck(database);
      const steps = database.prepare("select count(*) as tables from sqlite_schema where name like 'step_%'").get()?.[
        "tables"
      ];
      expect([0, 90]).toContain(steps);
      database.close();
    }
    expect(await migrateAndKill(path, 4, Number.POSITIVE_INFINITY)).toBe(true);
  }
  expect(killed).toBeGreaterThan(3);
});

test("records of the first version are brought up to date by a gateway that is killed meanwhile, and none is lost", async () => {
  const path = join(folder, "records.db");
  const first = join(folder, "first.db");
  const driver = loadDriver(tmpdir());
  const old = await openSqliteFile({
    driver,
    path: first,
    synchronous: "full",
    migrations: { "0001": createRecords },
  });
  // Enough that the copy which is made before takes longer than the process does to get there.
  old.database.exec(
    "with recursive n(at) as (select 1 union all select at + 1 from n where at < 60000) insert into request_log " +
      "select at, at, null, 'p', null, 'i', 's', 'mcp', 'tools/call', 's:t', 'ok', null, 1, 0, 1, 1, 0 from n",
  );
  old.close();
  let killed = 0;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    await copyFile(first, path);
    for (const name of ["-wal", "-shm", ".before-1"]) await rm(path + name, { force: true });
    if (!(await migrateAndKill(path, "records", attempt * 6))) killed += 1;
    const database = driver.open(path);
    quickCheck(database);
    const steps = database.prepare("select count(*) as steps from kysely_migration").get()?.["steps"];
    expect([1, Object.keys(recordsSteps).length]).toContain(steps);
    expect(database.prepare("select count(*) as rows from request_log").get()).toEqual({ rows: 60_000 });
    database.close();
  }
  expect(killed).toBeGreaterThan(2);
  const store = await whenOpened(createTestStore(folder, { limits: { retentionMs: 3_600_000 } }));
  expect(store.health()).toEqual({ status: "ready", problems: [] });
  expect((await store.calls({ limit: 1 })).rows).toMatchObject([{ id: 60_000, traceId: null }]);
  store.append("request", requestOf(store, { traceId: "ab".repeat(16) }));
  await store.flush();
  expect((await store.calls({ limit: 1 })).rows).toMatchObject([{ traceId: "ab".repeat(16) }]);
  await store.close(10_000);
  // What was there before is kept beside it, whole.
  const copy = driver.open(`${path}.before-1`);
  quickCheck(copy);
  expect(copy.prepare("select count(*) as rows from request_log").get()).toEqual({ rows: 60_000 });
  copy.close();
});

test("the state of the first version is brought up to date by a gateway that is killed meanwhile, with its audit", async () => {
  const path = join(folder, "state.db");
  const first = join(folder, "first.db");
  const driver = loadDriver(tmpdir());
  const old = await openSqliteFile({ driver, path: first, synchronous: "full", migrations: { "0001": createState } });
  // As above.
  old.database.exec(
    "with recursive n(at) as (select 1 union all select at + 1 from n where at < 60000) insert into audit " +
      "select at, at, 'p', 'cli', null, 'config.apply', 'o', 'done', null, '{}', at - 1, at from n",
  );
  old.close();
  let killed = 0;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    await copyFile(first, path);
    for (const name of ["-wal", "-shm", ".before-1"]) await rm(path + name, { force: true });
    if (!(await migrateAndKill(path, "state", attempt * 6))) killed += 1;
    const database = driver.open(path);
    quickCheck(database);
    const steps = database.prepare("select count(*) as steps from kysely_migration").get()?.["steps"];
    expect([1, Object.keys(stateSteps).length]).toContain(steps);
    expect(database.prepare("select count(*) as rows from audit").get()).toEqual({ rows: 60_000 });
    database.close();
  }
  expect(killed).toBeGreaterThan(2);
  const store = await whenOpened(createTestStore(folder));
  expect(store.health()).toEqual({ status: "ready", problems: [] });
  expect((await store.audit(entryOf())).seq).toBe(60_001);
  expect(await store.people.read()).toMatchObject({ users: [] });
  await store.close(10_000);
});

test("a gateway that is killed loses no audit row, and of records at most the last batches", async () => {
  let audited = 0;
  let appended = 0;
  for (let life = 1; life <= 4; life += 1) {
    const child = recording.start(folder, sqlWorkerFile.href);
    const exit = once(child, "exit");
    if (child.stdout === null) throw new Error("no stdout");
    let inLife = 0;
    for await (const line of createInterface(child.stdout)) {
      const [, seq, rows] = /^audit (\d+) appended (\d+)$/.exec(line) ?? [];
      audited = Number(seq);
      inLife = Number(rows);
      if (inLife > 500 * life) child.kill("SIGKILL");
    }
    expect(await exit).toEqual([null, "SIGKILL"]);
    appended += inLife;
    const store = await whenOpened(createTestStore(folder));
    expect(store.health()).toEqual({ status: "ready", problems: [] });
    const verdict = await store.verifyAudit();
    expect(verdict.kind).toBe("whole");
    expect(verdict.entries).toBeGreaterThanOrEqual(audited);
    let rows = 0;
    for (let before: number | undefined; ;) {
      const page = await store.calls({ limit: 1_000, before });
      rows += page.rows.length;
      if (page.next === null) break;
      before = page.next;
    }
    expect(rows).toBeGreaterThanOrEqual(appended);
    await store.close(10_000);
  }
});
