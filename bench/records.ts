import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { load } from "./measure/load.ts";
import { middleOf } from "./measure/middle.ts";
import { residentBytes } from "./measure/process.ts";
import { measureCalls } from "./records-calls.ts";
import { measureFlood, measureStage } from "./records-stage.ts";
import {
  call,
  directory,
  here,
  pause,
  post,
  readLeft,
  removeDirectory,
  startGateway,
  untilCallable,
  type Gateway,
  type StoreSetting,
} from "./records-gateway.ts";

/**
 * What recording costs: CPU per call, the event loop's lag under load (also with a slow disk), rows that are lost,
 * memory and room on the disk. Each beside a gateway that records nothing, in the same run.
 * `node scripts/run-bench.mjs bench/records.ts [--quick] [--only=calls,stage,load,flood,start,idle] [--seconds=10]`,
 * where the seconds are those of each load.
 */
const quick = process.argv.includes("--quick");
const optionOf = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
const only = optionOf("only")?.split(",");
const loadSeconds = Number(optionOf("seconds") ?? (quick ? 10 : 60));
const stores = ["off", "sqlite"] as const satisfies readonly StoreSetting[];

function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

function verdict(isMet: boolean): string {
  return isMet ? "ok" : "OVER";
}

/** The library that slows fsync, where there is a compiler for it. */
function slowSync(): string | undefined {
  const file = join(directory, "slow-sync.so");
  const made = spawnSync("gcc", ["-shared", "-fPIC", "-O2", "-o", file, here("./measure/slow-sync.c"), "-ldl"]);
  return made.status === 0 ? file : undefined;
}

/** Rows that the gateway says it has lost, once nothing waits any more. */
async function readDropped(gateway: Gateway): Promise<number> {
  for (;;) {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const sumOf = (name: string): number =>
      [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].reduce(
        (sum, [, value]) => sum + Number(value),
        0,
      );
    if (sumOf("toolyard_store_queued_rows") + sumOf("toolyard_store_sent_rows") === 0)
      return sumOf("toolyard_store_dropped_rows_total");
    await pause(200);
  }
}

async function measureLoad(): Promise<void> {
  const head = "calls | rows lost | goal 0 at 1,000/s | counted as dropped | goal: all | loop lag p50";
  print(`\n| load of ${loadSeconds} s | ${head} | p99 ms | max | goal p99 20 |`);
  print("|---|---|---|---|---|---|---|---|---|---|");
  const library = slowSync();
  const slow = library === undefined ? [] : [["sqlite", ", fsync 20 ms", { LD_PRELOAD: library }] as const];
  for (const [store, disk, preload] of [["off", "", {}] as const, ["sqlite", "", {}] as const, ...slow])
    for (const perSecond of [1_000, 10_000]) {
      const lagFile = join(directory, "lag.json");
      const options = `--import ${pathToFileURL(here("./measure/loop-lag.mjs")).href}`;
      const gateway = await startGateway(store, { env: { ...preload, NODE_OPTIONS: options, LOOP_LAG: lagFile } });
      await untilCallable(gateway);
      await load(gateway.url, call, { connections: 16, requests: 2_000, path: "/mcp" });
      process.kill(gateway.pid, "SIGUSR2");
      const { requests, durationMs } = await load(gateway.url, call, {
        connections: 64,
        requests: loadSeconds * perSecond,
        perSecond,
        path: "/mcp",
      });
      const dropped = store === "off" ? 0 : await readDropped(gateway);
      await gateway.stop();
      const { p50, p99, max } = JSON.parse(readFileSync(lagFile, "utf8")) as Record<string, number>;
      // It was called until it could be, which is the one row more.
      const lost = store === "off" ? 0 : requests + 2_001 - (await readLeft(gateway)).rows;
      const reached = Math.round(requests / (durationMs / 1_000));
      const lag = `${p50?.toFixed(1)} | ${p99?.toFixed(1)} | ${max?.toFixed(1)} | ${verdict((p99 ?? 0) < 20)}`;
      // Beyond what can be written, losing is allowed, and saying so is not optional.
      const losses = `${lost} | ${perSecond > 1_000 ? "-" : verdict(lost === 0)} | ${dropped} | ${verdict(lost === dropped)}`;
      print(`| ${store}, ${perSecond}/s (${reached}/s)${disk} | ${requests} | ${losses} | ${lag} |`);
    }
}

async function measureStart(): Promise<void> {
  const times: Record<StoreSetting, number[]> = { off: [], sqlite: [] };
  for (let round = 0; round < (quick ? 5 : 15); round += 1)
    for (const store of stores) {
      const startedMs = performance.now();
      const gateway = await startGateway(store);
      await post(gateway, "/mcp", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
      times[store].push(performance.now() - startedMs);
      await gateway.stop();
    }
  print(
    `\nFirst tools/list: ${middleOf(times.off).median.toFixed(0)} ms off, ${middleOf(times.sqlite).median.toFixed(0)} ms on`,
  );
}

/** Resident memory as a user meets it, in MB. */
const moments = [
  ["at once", 5],
  ["after 30 s", 25],
  ["after a minute", 35],
  ["after 90 s", 25],
] as const;

async function measureIdle(): Promise<void> {
  const names = moments.map(([name]) => name).join(" | ");
  print(`\n| ten servers, 1,000 tools, RSS in MB | ${names} | goal |`);
  print(`|---|${"---|".repeat(moments.length + 1)}`);
  for (const [store, goal] of [
    ["off", 70],
    ["sqlite", 80],
  ] as const) {
    const gateway = await startGateway(store, { servers: 10, tools: 98 });
    const report = async (what: string, most: number | undefined): Promise<void> => {
      const seen: number[] = [];
      for (const [, seconds] of moments) {
        await pause(seconds * 1_000);
        seen.push(residentBytes(gateway.pid) / 1e6);
      }
      const goal = most === undefined ? "-" : `${most} ${verdict((seen.at(-1) ?? 0) <= most)}`;
      print(`| ${store}, ${what} | ${seen.map((megabytes) => megabytes.toFixed(1)).join(" | ")} | ${goal} |`);
    };
    await untilCallable(gateway);
    await report("after the first call", goal);
    await load(gateway.url, call, { connections: 32, requests: 30_000, path: "/mcp" });
    await report("after 30,000 calls", undefined);
    await gateway.stop();
  }
}

try {
  const calls = async (): Promise<void> => await measureCalls(quick);
  const stage = async (): Promise<void> => await measureStage(quick);
  const flood = async (): Promise<void> => await measureFlood(quick);
  const parts = { calls, stage, load: measureLoad, flood, start: measureStart, idle: measureIdle };
  print(`Node ${process.versions.node}`);
  for (const [name, measure] of Object.entries(parts)) if (only?.includes(name) !== false) await measure();
} finally {
  removeDirectory();
}
