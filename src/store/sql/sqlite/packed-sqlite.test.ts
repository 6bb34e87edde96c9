import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listBinaries, packBinaries } from "../../../../scripts/package/pack-sqlite.mjs";
import { binaryForMachine, nameMachine } from "./packed-sqlite.ts";
import { fillDisk } from "../../../../test/harness/full-disk.ts";
import { loadBinary, loadDriver, NoRoomForDriver } from "./sql-driver.ts";

let home: string;
let packed: URL;
/** What a published package has, of this machine's binary only, and not compressed as well as it could be. */
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-packed-"));
  const binaries = listBinaries().filter(({ machine }) => machine === nameMachine());
  await packBinaries({ target: join(home, "packed"), binaries, quality: 1 });
  packed = pathToFileURL(join(home, "packed/"));
});
afterAll(async () => await rm(home, { recursive: true, force: true }));

let folder: string;
beforeEach(async () => void (folder = join(await mkdtemp(join(home, "data-")), "sqlite")));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

test("the package has a binary for each machine that Toolyard is meant for", () => {
  expect(listBinaries().map(({ machine }) => machine)).toEqual([
    "darwin-arm64",
    "darwin-x64",
    "linux-arm64-glibc",
    "linux-arm64-musl",
    "linux-x64-glibc",
    "linux-x64-musl",
    "win32-x64",
  ]);
});

test("a clone uses the binary of the installed package, and unpacks nothing", async () => {
  const path = binaryForMachine({ folder });
  expect(path).toContain(join("node_modules", "@photostructure", "sqlite", "prebuilds"));
  expect((await stat(path)).size).toBeGreaterThan(1_000_000);
  await expect(readdir(folder)).rejects.toMatchObject({ code: "ENOENT" });
});

test("the packed binary is unpacked once, for its owner alone, and is the same as the package's", async () => {
  const path = binaryForMachine({ folder, packed });
  expect((await readFile(path)).equals(await readFile(binaryForMachine({ folder })))).toBe(true);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const { ino } = await stat(path);
  expect(binaryForMachine({ folder, packed })).toBe(path);
  expect((await stat(path)).ino).toBe(ino);
  const Database = loadBinary(path).DatabaseSync;
  if (Database === undefined) throw new Error("the binary has no database");
  const database = new Database(join(folder, "x.db"));
  database.exec("pragma journal_mode = wal");
  database.exec("create table t (a)");
  expect(database.prepare("insert into t values (?)").run(1).changes).toBe(1);
  database.close();
});

test.each([
  ["cut off", (bytes: Buffer) => bytes.subarray(0, 1_000)],
  ["changed", (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([1, 2])])],
])("one that was %s is never loaded, but unpacked again", async (_, spoil) => {
  const path = binaryForMachine({ folder, packed });
  const whole = await readFile(path);
  await writeFile(path, spoil(whole));
  expect(binaryForMachine({ folder, packed })).toBe(path);
  expect((await readFile(path)).equals(whole)).toBe(true);
});

test("what an earlier version or an interrupted start left is removed, what is another's is not", async () => {
  await mkdir(folder);
  const names = ["linux-x64-glibc-0123.node", "interrupted.unfinished", "another.unfinished", "notes.txt"];
  for (const name of names) await writeFile(join(folder, name), "old");
  const yesterday = new Date(Date.now() - 24 * 3_600_000);
  await utimes(join(folder, "interrupted.unfinished"), yesterday, yesterday);
  const path = binaryForMachine({ folder, packed });
  const left = (await readdir(folder)).map((name) => join(folder, name));
  expect(left.sort()).toEqual([join(folder, "another.unfinished"), path, join(folder, "notes.txt")]);
});

test("a machine that no binary is for is told so, and so is a place where none can be put", async () => {
  const none = join(home, "none");
  await mkdir(none, { recursive: true });
  await writeFile(join(none, "binaries.json"), '{"sha256":{}}');
  expect(() => binaryForMachine({ folder, packed: pathToFileURL(`${none}/`) })).toThrow(
    `it has no binary for ${nameMachine()}`,
  );
  await writeFile(folder, "a file where the folder should be");
  expect(() => binaryForMachine({ folder, packed })).toThrow(/EEXIST|ENOTDIR/);
});

/** Only where Node has no SQLite of its own is one unpacked; only root mounts a small disk. */
const canFill = process.platform === "linux" && process.getuid?.() === 0;
const hasOwn = process.getBuiltinModule("node:sqlite") !== undefined;

describe.runIf(canFill && !hasOwn)("on a full disk", () => {
  beforeEach(async () => {
    await mkdir(folder, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=32m", "tmpfs", folder]);
  });
  afterEach(() => void execFileSync("umount", ["-l", folder]));

  test("there is no room for the driver, which is not the same as none, and it is loaded as soon as there is", async () => {
    await fillDisk(join(folder, "filler"));
    expect(() => loadDriver(folder, packed)).toThrow(NoRoomForDriver);
    expect(await readdir(folder)).toEqual(["filler"]);
    await rm(join(folder, "filler"));
    expect(loadDriver(folder, packed).version).toMatch(/^3\./);
  });
});
