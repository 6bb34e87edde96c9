import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, open as openFile, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadDriver, type SqlDatabase } from "../../src/store/sql/sqlite/sql-driver.ts";
import { runCommand } from "../harness/command.ts";
import { fillDisk } from "../harness/full-disk.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-served-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function start(requestLogging: "full" | "metadata" = "metadata"): Promise<RunningGateway> {
  const gateway = await startGateway({
    directory,
    config: { mcpServers: { plain: { ...badServer(), requestLogging } } },
  });
  await untilOnline(gateway.url);
  return gateway;
}

/** A call that is served, whatever the store is doing. */
async function callServed(gateway: RunningGateway, word: string): Promise<void> {
  const { json } = await run(gateway.url, "plain:echo", { word });
  expect(json.success).toBe(true);
}

/** Waits for an answer of `/readyz`, and returns its reason. */
async function untilReadiness(gateway: RunningGateway, status: 200 | 503): Promise<string> {
  return await until(async () => {
    const answer = await get(`${gateway.url}/readyz`);
    // Whatever is wrong with the store, it says that not everything is recorded.
    const isSaid = answer.json.records === (answer.json.reason === undefined ? undefined : "degraded");
    return answer.status === status && isSaid && String(answer.json.reason ?? "ready");
  });
}

async function fileOf(name: string): Promise<string> {
  const gateways = join(directory, "data", "gateways");
  const [place = ""] = await readdir(gateways);
  return join(gateways, place, name);
}

/** The ballast is laid when both databases are open. */
const untilOpened = async (): Promise<void> =>
  await until(async () =>
    stat(await fileOf("records.db.ballast")).then(
      () => true,
      () => false,
    ),
  ).then(() => undefined);

/** Works on a database that lies there, whoever else has it open. */
async function inFile<T>(name: string, work: (database: SqlDatabase) => T): Promise<T> {
  const database = loadDriver(tmpdir()).open(await fileOf(name));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const rowsOf = async (table: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  await inFile("records.db", (database) => database.prepare(`select * from ${table} order by id`).all());

/** Makes its files by a first life, in which one call is recorded. */
async function liveOnce(): Promise<void> {
  const gateway = await start();
  await untilOpened();
  await callServed(gateway, "first");
  expect(await gateway.stop()).toBe(0);
  expect(await rowsOf("request_log")).toHaveLength(1);
}

async function damage(name: string): Promise<void> {
  const path = await fileOf(name);
  const { size } = await stat(path);
  const file = await openFile(path, "r+");
  for (let at = 4_096; at < size; at += 4_096) await file.write(Buffer.alloc(2_000, 0xaa), 0, 2_000, at);
  await file.close();
}

describe("a gateway whose database is not as it left it serves calls", () => {
  test("FAULT 106: damaged records are set aside, and calls are recorded anew", async () => {
    await liveOnce();
    await damage("records.db");
    const gateway = await start();
    const aside = /^records\.db\.damaged-\d+$/;
    await until(async () => (await readdir(await fileOf("."))).some((name) => aside.test(name)));
    await callServed(gateway, "second");
    await untilReadiness(gateway, 200);
    expect(await gateway.stop()).toBe(0);
    expect(await rowsOf("request_log")).toHaveLength(1);
    expect((await readdir(await fileOf("."))).filter((name) => aside.test(name))).toHaveLength(1);
  });

  test("FAULT 106: a damaged state is left alone and said in /readyz and the log, and calls are recorded", async () => {
    await liveOnce();
    await damage("state.db");
    const gateway = await start();
    expect(await untilReadiness(gateway, 503)).toMatch(/state\.db.*damaged/);
    await callServed(gateway, "second");
    expect(gateway.stderr()).toMatch(/state\.db is damaged.*backup/);
    expect(await gateway.stop()).toBe(0);
    expect(await rowsOf("request_log")).toHaveLength(2);
  });

  test("FAULT 106: databases of a newer version that must not be used are left alone and said in /readyz, and nothing is recorded", async () => {
    await liveOnce();
    for (const name of ["records.db", "state.db"])
      await inFile(name, (database) =>
        database.exec(`insert into kysely_migration values ('0999', '2030');
          update meta set value = '0999' where key = 'reads_from'`),
      );
    const gateway = await start();
    expect(await untilReadiness(gateway, 503)).toMatch(/newer version/);
    await callServed(gateway, "second");
    expect(await gateway.stop()).toBe(0);
    expect(await rowsOf("request_log")).toHaveLength(1);
  });

  test("FAULT 106: a database that is taken away is said in /readyz, and putting it back mends it", async () => {
    await using gateway = await start();
    await untilOpened();
    const path = await fileOf("state.db");
    await rename(path, `${path}.away`);
    expect(await untilReadiness(gateway, 503)).toMatch(/state\.db was deleted or replaced/);
    await callServed(gateway, "meanwhile");
    await rename(`${path}.away`, path);
    await untilReadiness(gateway, 200);
    await until(() => gateway.stderr().includes("works again"));
  });
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;

test.runIf(canMount)(
  "FAULT 107: on a full disk calls are served and not recorded, which the log says, until there is room again",
  async () => {
    const data = join(directory, "data");
    await mkdir(data);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs", data]);
    try {
      await using gateway = await start("full");
      await untilOpened();
      const filler = join(data, "filler");
      await fillDisk(filler);
      const word = "x".repeat(15_000);
      await until(async () => {
        for (let at = 0; at < 20; at += 1) await callServed(gateway, word);
        return gateway.stderr().includes("there is no room on the disk");
      });
      await callServed(gateway, "on the full disk");
      // It passes, so that nobody has to look for another gateway.
      expect(await untilReadiness(gateway, 200)).toMatch(/no room on the disk for .*records\.db.*Make room/);
      const flags = ["--config", gateway.configFile, "--data-dir", data];
      expect((await runCommand(["status", ...flags])).stdout).toMatch(/^ {2}records: there is no room on the disk/m);
      await rm(filler);
      await until(() => gateway.stderr().includes("works again"));
      await until(async () => (await get(`${gateway.url}/readyz`)).text === '{"status":"ready"}');
      await callServed(gateway, "after");
      expect(await gateway.stop()).toBe(0);
      const bodies = (await inFile("records.db", (database) =>
        database.prepare("select arguments from request_body order by id desc limit 1").all(),
      )) as { arguments: string }[];
      expect(bodies).toEqual([{ arguments: '{"word":"after"}' }]);
    } finally {
      execFileSync("umount", ["-l", data]);
    }
  },
);

/** Rows go to the database after three seconds at most; this is for a slow machine on top of it. */
const slowMachineMs = 5_000;

test("FAULT 109: a gateway that is killed loses no call that ended more than a few seconds before", async () => {
  const gateway = await start();
  const endedMs: number[] = [];
  const endedBefore = (nowMs: number) => endedMs.filter((atMs) => atMs < nowMs - 3_000 - slowMachineMs);
  // As seldom as that no batch is ever full: only the time makes one.
  while (endedBefore(Date.now()).length < 6) {
    await callServed(gateway, `${endedMs.length}`);
    endedMs.push(Date.now());
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  const killedMs = Date.now();
  await gateway.stop("SIGKILL");
  expect((await rowsOf("request_log")).length).toBeGreaterThanOrEqual(endedBefore(killedMs).length);
  const next = await start();
  await callServed(next, "next");
  await untilReadiness(next, 200);
  expect(await next.stop()).toBe(0);
});

test("FAULT 73: of a flood on stderr few lines are recorded, and calls go on", async () => {
  const gateway = await start();
  const flood = run(gateway.url, "plain:flood-stderr", { bytes: 100 * 1_024 * 1_024 });
  await callServed(gateway, "meanwhile");
  expect((await flood).json).toMatchObject({ success: true });
  await callServed(gateway, "after");
  expect(await gateway.stop()).toBe(0);
  const lines = await rowsOf("server_log");
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThanOrEqual(100);
  expect((await stat(await fileOf("records.db"))).size).toBeLessThan(16 * 1_024 * 1_024);
  expect(await rowsOf("request_log")).toHaveLength(3);
});
