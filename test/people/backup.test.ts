import { appendFileSync, existsSync, statSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { onlyPlace } from "../harness/places.ts";

let directory: string;
let gateway: RunningGateway;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-backup-"));
  gateway = await start();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const start = async (): Promise<RunningGateway> =>
  await startGateway({ directory, config: { mcpServers: {} }, args: ["--team"] });

async function command(...words: string[]): Promise<CommandResult> {
  return await runCommand([...words, "--config", gateway.configFile, "--data-dir", join(directory, "data")]);
}

const tokenOf = async (name: string): Promise<string> =>
  (await command("user", "add", name, "--admin", "--team", "red")).stdout.trim();
const statusOf = async (token: string): Promise<number> =>
  (await get(`${gateway.url}/api/servers`, { authorization: `Bearer ${token}` })).status;
const file = (): string => join(directory, "backup.db");

test("a backup of a gateway that is written to is restored, and its audit is whole", async () => {
  const before = await tokenOf("ann");
  const added = Array.from({ length: 8 }, async (_, at) => await tokenOf(`user-${at}`));
  const { code, stdout } = await command("backup", file());
  expect([code, stdout]).toEqual([0, expect.stringMatching(/people, rights and audit are in .*: [\d ,.]+ bytes/)]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  await Promise.all(added);
  const after = await tokenOf("bob");
  expect(await command("restore", file())).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("toolyard stop"),
  });
  await gateway.stop();
  const restored = await command("restore", file(), "--json");
  expect([restored.code, restored.stderr]).toEqual([0, ""]);
  const { kept, isWhole } = JSON.parse(restored.stdout) as { kept: string; isWhole: boolean };
  expect([isWhole, existsSync(kept)]).toEqual([true, true]);
  gateway = await start();
  expect([await statusOf(before), await statusOf(after)]).toEqual([200, 401]);
  expect((await command("audit", "verify")).stdout).toMatch(/none changed or removed/);
  const actions = (await command("audit")).stdout;
  expect(actions).toContain("state.backup");
  expect(actions).toContain("state.restore");
});

async function backedUp(): Promise<void> {
  await tokenOf("ann");
  expect((await command("backup", file())).code).toBe(0);
  await gateway.stop();
}

function makeNewer(readsFrom: string): void {
  const database = loadDriver(directory).open(file());
  database.exec(`insert or ignore into kysely_migration values ('9999', 'then');
    update meta set value = '${readsFrom}' where key = 'reads_from'`);
  database.close();
}

test("a backup of a newer version that older ones may use is restored", async () => {
  await backedUp();
  makeNewer("0015");
  expect((await command("restore", file())).code).toBe(0);
  gateway = await start();
  expect((await command("user", "list")).stdout).toContain("ann");
});

test("a backup of a newer version that older ones must not use is refused with a hint, and nothing changes", async () => {
  await backedUp();
  makeNewer("9999");
  const folder = onlyPlace(join(directory, "data"));
  const state = await readFile(join(folder, "state.db"));
  const { code, stderr } = await command("restore", file());
  expect([code, stderr]).toEqual([2, expect.stringContaining("newer version of Toolyard")]);
  expect(stderr).toContain("Restore it with that version.");
  expect(await readFile(join(folder, "state.db"))).toEqual(state);
  expect((await readdir(folder)).filter((name) => name.includes("restore"))).toEqual([]);
});

test.each([
  ["a text", async () => await writeFile(file(), "no database")],
  ["one that is cut off", async () => await writeFile(file(), (await readFile(file())).subarray(0, 9_000))],
  ["nothing", async () => await rm(file())],
  [
    "records",
    async () => await writeFile(file(), await readFile(join(onlyPlace(join(directory, "data")), "records.db"))),
  ],
])("%s is no backup, and people are as they were", async (_what, spoil) => {
  await backedUp();
  await spoil();
  expect((await command("restore", file())).code).toBe(2);
  gateway = await start();
  expect((await command("user", "list")).stdout).toContain("ann");
});

test("on another machine without the key, a backup is restored, and says what it lacks", async () => {
  const token = await tokenOf("ann");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const secret = JSON.stringify({ value: "a-secret-of-red" });
  const put = await fetch(`${gateway.url}/api/teams/red/secrets/MAIL`, { method: "PUT", headers, body: secret });
  expect(put.status).toBe(200);
  expect((await command("backup", file())).code).toBe(0);
  expect((await readFile(file())).includes("a-secret-of-red")).toBe(false);
  await gateway.stop();
  const elsewhere = await mkdtemp(join(tmpdir(), "toolyard-elsewhere-"));
  const options = { directory: elsewhere, config: { mcpServers: {} }, args: ["--team"] };
  try {
    const other = await startGateway(options);
    await other.stop();
    const where = ["--config", other.configFile, "--data-dir", join(elsewhere, "data")];
    const restored = await runCommand(["restore", file(), ...where]);
    const verified = await runCommand(["audit", "verify", ...where]);
    expect([restored.code, verified.code]).toEqual([0, 1]);
    expect(restored.stderr).toMatch(/its audit cannot be verified.*\n.*needs that directory's key \(TOOLYARD_KEY\)/);
    expect(verified.stdout).toContain("sealed with another key");
    await using there = await startGateway(options);
    // People are let in; what is sealed is said to be, and stays.
    const listed = await get(`${there.url}/api/teams/red/secrets`, headers);
    expect(listed.json).toMatchObject({ secrets: [{ name: "MAIL", server: null }] });
    expect(there.stderr()).toContain("secrets of teams cannot be opened: the key of the secrets is missing");
    const again = await fetch(`${there.url}/api/teams/red/secrets/MAIL`, { method: "PUT", headers, body: secret });
    expect(await again.json()).toMatchObject({ detail: expect.stringContaining("the key of the secrets is missing") });
    expect(existsSync(join(onlyPlace(join(elsewhere, "data")), "vault.key"))).toBe(false);
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
});

test("a backup that cannot be written says so, and leaves the one that was there", async () => {
  await backedUp();
  gateway = await start();
  const { code, stderr } = await command("backup", join(directory, "nowhere", "backup.db"));
  expect([code, stderr]).toEqual([2, expect.stringContaining("cannot be written")]);
  expect(existsSync(file())).toBe(true);
});

test("db check looks through both databases while the gateway runs, and says what is damaged when it does not", async () => {
  await backedUp();
  gateway = await start();
  const { code, stdout } = await command("db", "check", "--json");
  expect(code).toBe(0);
  const { databases } = JSON.parse(stdout) as { databases: { database: string; faults: string[]; steps: string[] }[] };
  expect(databases.map(({ database, faults }) => [database, faults])).toEqual([
    ["state", []],
    ["records", []],
  ]);
  await gateway.stop();
  expect((await command("db", "migrate")).stdout).toContain("schema 00");
  const folder = onlyPlace(join(directory, "data"));
  await writeFile(join(folder, "state.db"), Buffer.alloc(8_192, 1));
  appendFileSync(join(folder, "state.db"), "x");
  const damaged = await command("db", "check");
  expect([damaged.code, damaged.stdout]).toEqual([1, expect.stringContaining("state.db is damaged")]);
  // The way out of it.
  expect((await command("restore", file())).code).toBe(0);
  expect((await command("db", "check")).code).toBe(0);
});
