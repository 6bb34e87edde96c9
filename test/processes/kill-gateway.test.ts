import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGatewayMark, toTreeMark } from "../../src/servers/process/marker.ts";
import { sweepLeftovers } from "../../src/servers/process/orphan-sweep.ts";
import { createProcessTable } from "../../src/servers/process/process-table.ts";
import { compileDrivers } from "./compile-drivers.ts";
import { findSurvivors, isAlive, parentOf, until } from "./survivors.ts";

/**
 * A server that does all that keeps a process from being found; each of its processes has `token` in its command
 * line. What cleared its environment keeps a living parent: without that nothing tells whose it is.
 */
const nastyServer = (token: string) => `
trap '' TERM HUP
t=${token}
sh -c 'trap "" TERM HUP; while :; do read x || sleep 1; done' $t-plain &
setsid sh -c 'while :; do sleep 1; done' $t-setsid </dev/null &
( ( setsid sh -c 'while :; do sleep 1; done' $t-double-fork </dev/null >/dev/null 2>&1 & ) & )
sh -c 'setsid env -i PATH="$PATH" sh -c "while :; do sleep 1; done" $0 </dev/null & while :; do sleep 1; done' $t-cleared </dev/null >/dev/null &
sh -c 'kill -STOP $$; sleep 1000' $t-stopped &
setsid sh -c 'while :; do setsid sh -c "sleep 2" $0 & sleep 0.02; done' $t-forking </dev/null &
echo up
while :; do sleep 1; done`;

const linux = process.platform === "linux";
const seed = Number(process.env["TOOLYARD_TEST_SEED"] ?? Date.now() % 1_000_000);
const cycles = Number(process.env["TOOLYARD_TEST_CYCLES"] ?? 30);

describe.runIf(linux)("kill -9 of the gateway", () => {
  let built: ReturnType<typeof compileDrivers>;
  const started = new Set<ChildProcess>();

  beforeAll(() => {
    built = compileDrivers();
  });

  afterAll(() => {
    for (const child of started) child.kill("SIGKILL");
    rmSync(built.folder, { recursive: true, force: true });
  });

  function startGateway(records: string, script: string, options: SpawnOptions & { width?: number } = {}) {
    const args = [built.driver("test/processes/gateway-driver.js"), records, String(options.width ?? 2), script];
    const child = spawn(process.execPath, args, {
      ...options,
      stdio: ["ignore", "pipe", "inherit"],
    });
    started.add(child);
    const said: Array<{ mark: string; guardian: number; tree: number }> = [];
    if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => said.push(JSON.parse(line)));
    const exited = new Promise((resolve) => child.once("exit", resolve));
    return { child, said, exited };
  }

  async function killCycle(random: () => number, options: SpawnOptions = {}) {
    const records = makeRecords(options);
    const token = `nasty-${process.pid}-${Math.floor(random() * 1e9)}`;
    const gateway = startGateway(records, nastyServer(token), options);
    if (random() < 0.7) await until(() => gateway.said.length > 0);
    await pause(random() * 250);
    gateway.child.kill("SIGKILL");
    const killedAt = performance.now();
    await gateway.exited;
    const said = gateway.said[0];
    await until(() => findSurvivors(token).length === 0 && (!said || !isAlive(said.guardian)));
    const goneMs = performance.now() - killedAt;
    if (said) expect(findSurvivors(said.mark)).toEqual([]);
    rmSync(path.dirname(records), { recursive: true });
    return goneMs;
  }

  test(
    `FAULT 78: leaves no process, ${cycles} times at random moments (TOOLYARD_TEST_SEED=${seed})`,
    { timeout: cycles * 20_000 },
    async () => {
      const random = createRandom(seed);
      const goneMs: number[] = [];
      for (let cycle = 0; cycle < cycles; cycle += 1) goneMs.push(await killCycle(random));
      console.info(`kill -9: seed ${seed}, ${summary(goneMs)}`);
    },
  );

  test.runIf(process.getuid?.() === 0)("leaves no process of an unprivileged gateway either", async () => {
    const random = createRandom(seed);
    const goneMs: number[] = [];
    for (let cycle = 0; cycle < 5; cycle += 1) goneMs.push(await killCycle(random, { uid: 65534, gid: 65534 }));
    console.info(`kill -9, unprivileged: ${summary(goneMs)}`);
  });

  test("a guardian that is killed is replaced, and the new one knows all trees", async () => {
    const records = makeRecords({});
    const token = `replaced-${process.pid}`;
    const gateway = startGateway(records, nastyServer(token));
    await until(() => gateway.said.length >= 2);
    const first = gateway.said[0]?.guardian ?? 0;
    process.kill(first, "SIGKILL");
    await until(() => findGuardians(gateway.child.pid).some((pid) => pid !== first));
    gateway.child.kill("SIGKILL");
    await until(() => findSurvivors(token).length === 0);
    rmSync(path.dirname(records), { recursive: true });
  });

  test("the guardian for systems without a shell leaves nothing either", async () => {
    const token = `no-shell-${process.pid}`;
    const mark = createGatewayMark();
    const env = { ...process.env, TOOLYARD_INSTANCE: toTreeMark(mark, 1) };
    const server = spawn("/bin/sh", ["-c", nastyServer(token)], {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise((resolve) => server.stdout.once("data", resolve));
    const guardian = spawn(process.execPath, [built.driver("src/servers/process/guardian/guardian-main.js")], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    started.add(server).add(guardian);
    guardian.stdin.end(`${mark}\n${server.pid}\n`);
    expect(await new Promise((resolve) => guardian.once("exit", resolve))).toBe(0);
    expect(findSurvivors(token)).toEqual([]);
  });

  test("what outlives gateway and guardian is swept by the next gateway, and nothing of a living one", async () => {
    const records = makeRecords({});
    const dead = startGateway(records, nastyServer(`dead-${process.pid}`));
    const living = startGateway(records, "while :; do sleep 1; done; : living", { width: 1 });
    await until(() => dead.said.length >= 2 && living.said.length >= 1);
    // Stopped first: a living gateway would replace its guardian.
    dead.child.kill("SIGSTOP");
    process.kill(dead.said[0]?.guardian ?? 0, "SIGKILL");
    dead.child.kill("SIGKILL");
    await dead.exited;
    expect(findSurvivors(dead.said[0]?.mark ?? "?").length).toBeGreaterThan(0);

    expect(await sweepLeftovers(records, createProcessTable())).toEqual({
      alive: 1,
      dead: 1,
      stubborn: [],
    });

    expect(findSurvivors(dead.said[0]?.mark ?? "?")).toEqual([]);
    expect(isAlive(living.said[0]?.tree ?? 0)).toBe(true);
    expect(readdirSync(records)).toEqual([`${living.said[0]?.mark}.json`]);
    living.child.kill("SIGKILL");
    await until(() => findSurvivors(living.said[0]?.mark ?? "?").length === 0);
    // What neither mark nor ancestry tells is out of the sweep's reach; the guardian would have had it.
    for (const line of findSurvivors(`dead-${process.pid}-cleared`))
      process.kill(Number(line.split(" ")[0]), "SIGKILL");
    rmSync(path.dirname(records), { recursive: true });
  });
});

function makeRecords({ uid, gid }: SpawnOptions): string {
  const folder = mkdtempSync(path.join(tmpdir(), "toolyard-records-"));
  const records = path.join(folder, "processes");
  mkdirSync(records);
  if (uid !== undefined && gid !== undefined) {
    chownSync(folder, uid, gid);
    chownSync(records, uid, gid);
  }
  return records;
}

function findGuardians(gateway: number | undefined): readonly number[] {
  const guardians = findSurvivors("toolyard-guardian").map((line) => Number(line.split(" ")[0]));
  return guardians.filter((pid) => parentOf(pid) === gateway);
}

function summary(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `all gone after ${sorted.map(Math.round)[Math.floor(sorted.length / 2)]} ms (median), ${Math.round(sorted.at(-1) ?? 0)} ms (worst)`;
}

/** mulberry32: small, and the same everywhere for the same seed. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
