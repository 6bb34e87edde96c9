import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { sql, type Kysely } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createState } from "../migrations/state/state-0001-0003.ts";
import { isOlder, isOutOfRoom, loadDriver, sqliteCode, sqliteCodes } from "./sql-driver.ts";
import { isRowFault } from "../row-writer.ts";
import { openSqliteFile, type SqliteFile } from "./sqlite-file.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-driver-"))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const openState = async (migrations = { "0001": createState }): Promise<SqliteFile> =>
  await openSqliteFile({ driver: loadDriver(folder), path: join(folder, "state.db"), synchronous: "full", migrations });

test("this Node has a SQLite that does not damage databases", async () => {
  const driver = loadDriver(folder);
  expect(isOlder(driver.version, "3.51.3")).toBe(false);
});

test.each([
  ["3.51.2", true],
  ["3.51.3", false],
  ["3.9.9", true],
  ["3.53.0", false],
  ["4.0.0", false],
  ["3.51", true],
])("SQLite %s is too old: %s", (version, expected) => expect(isOlder(version, "3.51.3")).toBe(expected));

test("a connection has what keeps it safe switched on", async () => {
  const file = await openState();
  const valueOf = (name: string) => Object.values(file.database.prepare(`pragma ${name}`).get() ?? {})[0];
  const names = ["journal_mode", "synchronous", "foreign_keys", "busy_timeout", "trusted_schema", "cell_size_check"];
  expect(names.map(valueOf)).toEqual(["wal", 2, 1, 5_000, 0, 1]);
  expect(valueOf("journal_size_limit")).toBe(16 * 1_024 * 1_024);
  file.close();
});

test("where there can be no write-ahead log, as on many network drives, nothing is written, and it is said", async () => {
  const real = loadDriver(folder);
  // SQLite has none in memory: it answers as it does on such a drive.
  const driver = { ...real, open: () => real.open(":memory:") };
  const path = join(folder, "state.db");
  await expect(
    openSqliteFile({ driver, path, synchronous: "full", migrations: { "0001": createState } }),
  ).rejects.toThrow(`the file system of ${folder} cannot hold a database: no write-ahead log (memory)`);
  expect((await stat(path)).size).toBe(0);
});

test("errors tell whether it is the row's fault", async () => {
  const file = await openState();
  const fails = (sql: string): unknown => {
    try {
      return file.database.exec(sql);
    } catch (error) {
      return error;
    }
  };
  file.database.exec("insert into meta values ('a', 'b')");
  const twice = fails("insert into meta values ('a', 'b')");
  expect([sqliteCode(twice), isRowFault(twice)]).toEqual([sqliteCodes.constraint, true]);
  const wrong = fails("insert into nothing values (1)");
  expect(isRowFault(wrong)).toBe(false);
  file.database.exec("pragma max_page_count = 1");
  const full = fails(
    "create table big as with n(i) as (select 1 union all select i + 1 from n where i < 9999) select i, hex(randomblob(99)) from n",
  );
  expect([sqliteCode(full), isRowFault(full), isOutOfRoom(full)]).toEqual([sqliteCodes.full, false, true]);
  // So it says where the full disk is met by the memory that connections share; other errors of the disk are not that.
  const ofDisk = (errcode: number): Error => Object.assign(new Error("disk I/O error"), { errcode });
  expect([isOutOfRoom(ofDisk(4_874)), isOutOfRoom(ofDisk(1_034)), isOutOfRoom(twice)]).toEqual([true, false, false]);
  file.close();
});

test("a migration keeps a copy of what was there, and an old one that failed leaves the tables as they were", async () => {
  const first = await openState();
  first.database.exec("insert into meta values ('kept', 'yes')");
  first.close();
  const makeTable = async (db: Kysely<unknown>) => await sql`create table half (id integer)`.execute(db);
  const broken = async () => {
    throw new Error("it broke");
  };
  await expect(openState({ "0001": createState, "0002": makeTable, "0003": broken } as never)).rejects.toThrow(
    "it broke",
  );
  const again = await openState();
  const tables = again.database.prepare("select name from sqlite_schema where name = 'half'").all();
  expect(tables).toEqual([]);
  again.close();
  const left = (await readdir(folder)).filter((name) => !/-(?:wal|shm)$/.test(name)).sort();
  expect(left).toEqual(["state.db", "state.db.before-1"]);
  const copy = loadDriver(folder).open(join(folder, "state.db.before-1"));
  expect(copy.prepare("select value from meta where key = 'kept'").get()).toEqual({ value: "yes" });
  copy.close();
});

test("the thread that makes the records loads nothing of SQL", async () => {
  const { metafile } = await build({
    entryPoints: ["src/store/sql/client/sql-store.ts"],
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
  });
  // What is imported when it is needed (PostgreSQL) is not loaded with it.
  const inputs = new Set(["src/store/sql/client/sql-store.ts"]);
  for (const input of inputs)
    for (const { path, kind } of metafile.inputs[input]?.imports ?? []) if (kind !== "dynamic-import") inputs.add(path);
  expect([...inputs]).toContain("src/store/sql/client/sql-client.ts");
  expect([...inputs].filter((name) => /node_modules|driver|dialect|migrat|desk/.test(name))).toEqual([]);
});
