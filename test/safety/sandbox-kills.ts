import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { mainFile } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { findSurvivors, isAlive, parentOf } from "../processes/survivors.ts";
import { makeHome } from "./inside.ts";

/** A gateway is killed while its servers start, answer calls, are stopped and started again, or end with it. */
const steps = ["start", "call", "restart", "stop"] as const;
type Step = (typeof steps)[number];

/** What was left of confined servers whose gateway was killed. */
export interface SandboxKills {
  readonly cycles: number;
  /** How often each was hit. */
  readonly at: Readonly<Record<Step, number>>;
  /** What they had when they were hit, together. Mounts are counted by the namespaces that hold them. */
  readonly had: Left;
  readonly left: Left & { readonly groups: number };
}

interface Left {
  readonly processes: number;
  readonly sockets: number;
  readonly mounts: number;
}

export interface SandboxKillOptions {
  readonly server: string;
  readonly main?: string;
}

/** Within it a step has been gone through on any machine that is not overloaded. */
const longestMs: Readonly<Record<Step, number>> = { start: 600, call: 40, restart: 500, stop: 200 };
/** What is still there after that is left. */
const patienceMs = 30_000;
const kinds = { names: { sandbox: true }, none: { sandbox: { network: [] } } };

/** Kills gateways with confined servers at random moments, and counts what each kill left on this machine. */
export async function killConfined(
  cycles: number,
  { server, main = mainFile }: SandboxKillOptions,
): Promise<SandboxKills> {
  const directory = await makeHome();
  const config = join(directory, "toolyard.json");
  const entry = { command: process.execPath, args: [server, directory] };
  const mcpServers = Object.fromEntries(Object.entries(kinds).map(([name, more]) => [name, { ...entry, ...more }]));
  writeFileSync(config, JSON.stringify({ mcpServers }));
  const words = [main, "serve", "--config", config, "--port", "0", "--data-dir", join(directory, "data")];
  const at = { start: 0, call: 0, restart: 0, stop: 0 };
  let had: Left = { processes: 0, sockets: 0, mounts: 0 };
  let left = had;
  const pids: number[] = [];
  const mounted = ownMounts();
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const step = steps[cycle % steps.length] ?? "start";
    const gateway = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
    pids.push(gateway.pid ?? 0);
    await begin[step](gateway, directory);
    await pause(Math.random() * longestMs[step]);
    const seen = freeze(gateway);
    if (seen === undefined) continue;
    const found = () => leftOf(seen, directory, mounted);
    had = sum(had, found());
    gateway.kill("SIGKILL");
    at[step] += 1;
    await until(() => Object.values(found()).every((count) => count === 0), patienceMs).catch(() => undefined);
    left = sum(left, found());
  }
  // A group of a killed gateway is removed by the next one.
  const last = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
  await begin.call(last, directory);
  const groups = groupsOf(pids).length;
  last.kill("SIGTERM");
  await new Promise((resolve) => last.once("exit", resolve));
  await rm(directory, { recursive: true });
  return { cycles, at, had, left: { ...left, groups } };
}

function sum(one: Left, other: Left): Left {
  const { processes, sockets, mounts } = one;
  return {
    processes: processes + other.processes,
    sockets: sockets + other.sockets,
    mounts: mounts + other.mounts,
  };
}

const calls = `return await new Promise((done) => setTimeout(done, 30))`;

/** Brings a gateway to a step. */
const begin: Readonly<Record<Step, (gateway: ChildProcess, directory: string) => Promise<unknown>>> = {
  async start(gateway) {
    return await urlOf(gateway);
  },
  async call(gateway) {
    const url = await urlOf(gateway);
    const run = async (name: string) => await execute(url, `${name}:run`, { code: calls });
    for (const name of Object.keys(kinds)) await until(async () => (await run(name)).isError !== true);
    void Promise.allSettled(Object.keys(kinds).map(run));
    return url;
  },
  async restart(gateway, directory) {
    await begin.call(gateway, directory);
    const ask = async (name: string) =>
      await askOwner(join(directory, "data"), "POST", `/api/instances/${name}/restart`);
    void Promise.allSettled(Object.keys(kinds).map(ask));
  },
  async stop(gateway, directory) {
    await begin.call(gateway, directory);
    gateway.kill("SIGTERM");
  },
};

async function urlOf(gateway: ChildProcess): Promise<string> {
  let said = "";
  gateway.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return await until(() => /^listening on (\S+)$/m.exec(said)?.[1]);
}

const ticksPerSecond = 100;

/** What a gateway and all that it started had at one moment. */
interface Frozen {
  readonly pids: ReadonlyMap<number, string>;
  readonly sockets: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  /** Processes that are nothing of it. A namespace that has ended leaves its number to one of theirs. */
  readonly others: ReadonlyMap<number, string>;
  /** In ticks since boot. */
  readonly atTick: number;
}

/** Stops a gateway where it is, and looks. Undefined where it has ended already. */
function freeze(gateway: ChildProcess): Frozen | undefined {
  const { pid = 0 } = gateway;
  if (gateway.exitCode !== null || !gateway.kill("SIGSTOP")) return undefined;
  const all = allPids();
  const pids = new Set([pid]);
  for (let size = 0; size < pids.size;) {
    size = pids.size;
    for (const one of all) if (pids.has(parentOf(one))) pids.add(one);
  }
  const own = new Set(namespacesOf(process.pid));
  return {
    pids: new Map([...pids].map((one) => [one, startOf(one)])),
    sockets: new Set([...pids].flatMap(socketsOf)),
    namespaces: new Set([...pids].flatMap(namespacesOf).filter((one) => !own.has(one))),
    others: new Map(all.filter((one) => !pids.has(one)).map((one) => [one, startOf(one)])),
    atTick: Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * ticksPerSecond,
  };
}

function leftOf(
  { pids, sockets, namespaces, others, atTick }: Frozen,
  directory: string,
  mounted: readonly string[],
): Left {
  const all = allPids().filter((pid) => pid !== process.pid);
  const known = all.filter((pid) => pids.has(pid) && pids.get(pid) === startOf(pid) && isAlive(pid));
  const isOther = (pid: number): boolean => others.get(pid) === startOf(pid) || Number(startOf(pid)) > atTick;
  const inside = all.filter((pid) => namespacesOf(pid).some((one) => namespaces.has(one)) && !isOther(pid));
  return {
    processes: known.length + findSurvivors(directory).length,
    sockets: all.flatMap(socketsOf).filter((socket) => sockets.has(socket)).length,
    mounts:
      inside.length +
      ownMounts().filter((line) => !mounted.includes(line) && /toolyard-inside|newroot|nsfs/.test(line)).length,
  };
}

function allPids(): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);
}

function socketsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  const files = quietly(() => readdirSync(folder), []);
  const targets = files.map((file) => quietly(() => readlinkSync(join(folder, file)), ""));
  return targets.filter((target) => target.startsWith("socket:"));
}

function namespacesOf(pid: number): readonly string[] {
  return ["net", "mnt"].flatMap((kind) => quietly(() => [readlinkSync(`/proc/${pid}/ns/${kind}`)], []));
}

function startOf(pid: number): string {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, "latin1"), "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

/** Without their numbers, which are given again. */
function ownMounts(): readonly string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ").slice(3).join(" "));
}

/** Control groups that were made for servers of these gateways. */
function groupsOf(pids: readonly number[]): readonly string[] {
  const names = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].flatMap((folder) =>
    quietly(() => readdirSync(folder, { recursive: true }).map(String), []),
  );
  return names.filter((name) => pids.includes(Number(/toolyard-(\d+)-[^/]*$/.exec(name)?.[1] ?? 0)));
}

function quietly<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
