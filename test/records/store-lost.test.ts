import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuditCheck, AuditJson } from "../../src/records/audit/audit-history.ts";
import type { CallJson } from "../../src/records/calls/record-json.ts";
import { runCommand } from "../harness/command.ts";
import { badServer, mainFile, startGateway, type GatewayOptions, type RunningGateway } from "../harness/gateway.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-lost-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function start(more: Partial<GatewayOptions> = {}): Promise<RunningGateway> {
  const config = { mcpServers: { bad: { ...badServer(), scope: "shared" } } };
  const gateway = await startGateway({ directory, config, ...more });
  await untilOnline(gateway.url);
  return gateway;
}

const callServed = async (gateway: RunningGateway): Promise<void> =>
  expect((await run(gateway.url, "bad:echo", {})).json).toMatchObject({ success: true });

async function callsOf(gateway: RunningGateway, path = "/api/calls?limit=1000"): Promise<readonly CallJson[]> {
  return await until(async () => {
    const { status, json } = await get(`${gateway.url}${path}`);
    return status === 200 && (json as { calls: CallJson[] }).calls;
  });
}

const command = async (...words: string[]) =>
  await runCommand([...words, "--config", join(directory, "toolyard.json"), "--data-dir", join(directory, "data")]);

test("FAULT 106: the thread of the store dies: calls are served, it is said everywhere, and recording goes on", async () => {
  const preload = pathToFileURL(join(import.meta.dirname, "../harness/worker-fault.mjs")).href;
  await using gateway = await start({ env: { NODE_OPTIONS: `--import ${preload}` } });
  await callServed(gateway);
  expect(await callsOf(gateway)).toHaveLength(1);
  // The wait grows with each death, so that there is time to look.
  const readiness = await until(async () => {
    gateway.process.kill("SIGUSR2");
    const answer = await get(`${gateway.url}/readyz`);
    return answer.json.records === "degraded" && answer;
  });
  expect(readiness.status).toBe(200);
  expect(readiness.json).toMatchObject({ status: "ready", reason: expect.stringMatching(/thread .* is gone: .*null/) });
  await callServed(gateway);
  expect(gateway.stderr()).toMatch(/the thread that has the database is gone/);
  const said = await until(async () => {
    gateway.process.kill("SIGUSR2");
    const { stdout } = await command("status");
    return stdout.includes("records:") && stdout;
  });
  expect(said).toMatch(/^ {2}records: the thread that has the database is gone/m);
  await until(async () => (await get(`${gateway.url}/readyz`)).text === '{"status":"ready"}');
  await until(() => gateway.stderr().includes("the store of records works again"));
  await callServed(gateway);
  // What was called meanwhile waited for the next thread.
  expect(await callsOf(gateway)).toHaveLength(3);
});

const hasOwnDriver = process.getBuiltinModule?.("node:sqlite") !== undefined;

test.skipIf(hasOwnDriver)(
  "FAULT 106: no SQLite is installed: calls are served, and it is said everywhere",
  async () => {
    // The program beside everything that is installed but the driver, and without the one that a package has inside.
    const program = join(directory, "program");
    const root = fileURLToPath(new URL("../../", import.meta.url));
    await cp(dirname(dirname(mainFile)), join(program, "dist"), { recursive: true });
    await rm(join(program, "dist/sqlite"), { recursive: true, force: true });
    await cp(join(root, "package.json"), join(program, "package.json"));
    await mkdir(join(program, "node_modules"));
    for (const name of await readdir(join(root, "node_modules")))
      if (name !== "@photostructure")
        await symlink(join(root, "node_modules", name), join(program, "node_modules", name));
    await using gateway = await start({ main: join(program, "dist/cli/main.js") });
    const readiness = await until(async () => {
      const answer = await get(`${gateway.url}/readyz`);
      return answer.status === 503 && answer;
    });
    const reason = expect.stringMatching(/no SQLite .*Use Node 22\.22 or newer/);
    expect(readiness.json).toEqual({ status: "unready", records: "degraded", reason });
    await callServed(gateway);
    expect(gateway.stderr()).toMatch(/no SQLite/);
    expect((await command("status")).stdout).toMatch(/^ {2}not ready: no SQLite/m);
    expect((await get(`${gateway.url}/api/calls`)).status).toBe(503);
    expect(await gateway.stop()).toBe(0);
  },
);

/** Rows go to the database after three seconds at most; this is for a slow machine on top of it. */
const keptBeforeMs = 3_000 + 5_000;

test("FAULT 109: killed at any moment, the gateway loses the calls of the last seconds, and nothing of the audit", async () => {
  let kept = 0;
  let tokens = 0;
  for (const lifeMs of [300 + 2_000 * Math.random(), 300 + 4_000 * Math.random(), 9_000 + 2_000 * Math.random()]) {
    const gateway = await start();
    const endedMs: number[] = [];
    const untilMs = Date.now() + lifeMs;
    while (Date.now() < untilMs) {
      await callServed(gateway);
      endedMs.push(Date.now());
      // Whoever was answered has an entry.
      if (endedMs.length % 3 === 0) {
        expect((await post(`${gateway.url}/api/instances/bad/token`, {})).status).toBe(200);
        tokens += 1;
      }
    }
    const killedMs = Date.now();
    await gateway.stop("SIGKILL");
    const verified = await command("audit", "verify", "--json");
    expect(JSON.parse(verified.stdout) as AuditCheck).toMatchObject({ isWhole: true });
    const issued = await command("audit", "--json", "--action", "token.issue", "--limit", "100000");
    const seen = issued.stdout.split("\n").filter((line) => line !== "");
    expect(seen.map((line) => (JSON.parse(line) as AuditJson).seq)).toHaveLength(tokens);
    await using next = await start();
    const all = await countCalls(next);
    const keptOfLife = all - kept;
    expect(keptOfLife).toBeLessThanOrEqual(endedMs.length);
    // They are written in order, so that the last are missing.
    for (const lost of endedMs.slice(keptOfLife)) expect(lost).toBeGreaterThan(killedMs - keptBeforeMs);
    expect(await next.stop()).toBe(0);
    kept = all;
  }
  expect(tokens).toBeGreaterThan(0);
  expect(kept).toBeGreaterThan(0);
});

async function countCalls(gateway: RunningGateway): Promise<number> {
  let calls = 0;
  for (let path: string | undefined = "/api/calls?limit=1000"; path !== undefined;) {
    const { status, json } = await get(`${gateway.url}${path}`);
    if (status === 503) continue;
    const page = json as { calls: CallJson[]; nextCursor: string | null };
    calls += page.calls.length;
    path = page.nextCursor === null ? undefined : `/api/calls?limit=1000&cursor=${page.nextCursor}`;
  }
  return calls;
}
