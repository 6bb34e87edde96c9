import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { systemClock } from "../src/kernel/clock.ts";
import { loadDriver } from "../src/store/sql/sql-driver.ts";
import { createSqlStore } from "../src/store/sql/sql-store.ts";
import { load } from "./measure/load.ts";
import { cpuMicros, mainThreadMicros, residentBytes, startMeasured, type Measured } from "./measure/process.ts";

/**
 * What recording costs: CPU per call, the event loop's lag under load (also with a slow disk), rows that are lost,
 * memory and room on the disk. Each beside a gateway that records nothing, in the same run.
 * `node scripts/run-bench.mjs bench/records.ts [--quick] [--only=calls,load,flood,start,idle] [--seconds=10]`, where
 * the seconds are those of each load.
 */
const quick = process.argv.includes("--quick");
const optionOf = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
const only = optionOf("only")?.split(",");
const loadSeconds = Number(optionOf("seconds") ?? (quick ? 10 : 60));
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const call =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"s0:echo","arguments":{"message":"hello"}}}}';
const stores = ["off", "sqlite"] as const;
type StoreSetting = (typeof stores)[number];

function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

function verdict(isMet: boolean): string {
  return isMet ? "ok" : "OVER";
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

interface Gateway extends Measured {
  /** Of its own; the databases are somewhere in it. */
  readonly data: string;
}

async function startGateway(
  store: StoreSetting,
  { servers = 1, tools = 0, env = {} }: { servers?: number; tools?: number; env?: Record<string, string> } = {},
): Promise<Gateway> {
  const data = mkdtempSync(join(directory, `${store}-`));
  const entry = { command: process.execPath, args: [here("./servers/echo.mjs")], env: { BENCH_TOOLS: `${tools}` } };
  const mcpServers = Object.fromEntries(Array.from({ length: servers }, (_, index) => [`s${index}`, entry]));
  const config = join(data, "toolyard.json");
  writeFileSync(config, JSON.stringify({ mcpServers, toolyard: { records: { store } } }));
  const options = ["--config", config, "--port", "0", "--data-dir", join(data, "data"), "--log-level", "error"];
  return { ...(await startMeasured([here("../dist/cli/main.js"), "serve", ...options], env)), data };
}

async function post(gateway: Measured, path: string, body: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  return await (await fetch(`${gateway.url}${path}`, { method: "POST", headers, body })).text();
}

async function untilCallable(gateway: Measured): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if ((await post(gateway, "/mcp", call)).includes("Echo: hello")) return;
    await pause(50);
  }
  throw new Error("the echo tool did not come up");
}

/** Rows of calls in what a stopped gateway left, sorted or as they came in a burst, and the bytes of its file. */
async function readLeft({ data }: Gateway): Promise<{ readonly rows: number; readonly bytes: number }> {
  const gateways = join(data, "data", "gateways");
  const path = join(gateways, readdirSync(gateways)[0] ?? "", "records.db");
  const database = loadDriver(tmpdir()).open(path);
  const sorted = Number(database.prepare("select count(*) as rows from request_log").get()?.["rows"]);
  const unsorted = Number(database.prepare("select sum(rows) as rows from request_backlog").get()?.["rows"] ?? 0);
  const rows = sorted + unsorted;
  database.close();
  return { rows, bytes: statSync(path).size };
}

async function measureCalls(): Promise<void> {
  print("| calls | CPU us off | CPU us on | ratio | goal 1.10 | main thread us off | on | more | goal 2.5 |");
  print("|---|---|---|---|---|---|---|---|---|");
  const [off, on] = [await startGateway("off"), await startGateway("sqlite")];
  for (const gateway of [off, on]) await untilCallable(gateway);
  for (const connections of [1, 32]) {
    const requests = (quick ? 4_000 : 12_000) / (connections === 1 ? 2 : 1);
    const round = async (gateway: Gateway) => {
      const [cpu, main] = [cpuMicros(gateway.pid), mainThreadMicros(gateway.pid)];
      await load(gateway.url, call, { connections, requests, path: "/mcp" });
      // Until what waits is written, which is a part of the cost.
      await pause(500);
      return {
        cpu: (cpuMicros(gateway.pid) - cpu) / requests,
        main: (mainThreadMicros(gateway.pid) - main) / requests,
      };
    };
    // What V8 compiles on the way is not the cost of a call.
    for (let warm = 0; warm < 6; warm += 1) for (const gateway of [off, on]) await round(gateway);
    const pairs: { readonly without: { cpu: number; main: number }; readonly with: { cpu: number; main: number } }[] =
      [];
    for (let at = 0; at < (quick ? 8 : 14); at += 2) {
      // Each goes first as often as the other: what comes first is slower on a busy machine.
      pairs.push({ without: await round(off), with: await round(on) });
      const first = await round(on);
      pairs.push({ without: await round(off), with: first });
    }
    const of = (read: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(read));
    const ratio = of((pair) => pair.with.cpu / pair.without.cpu);
    const more = of((pair) => pair.with.main - pair.without.main);
    const cpu = `${of((pair) => pair.without.cpu).toFixed(1)} | ${of((pair) => pair.with.cpu).toFixed(1)}`;
    const main = `${of((pair) => pair.without.main).toFixed(1)} | ${of((pair) => pair.with.main).toFixed(1)}`;
    print(
      `| c=${connections} | ${cpu} | ${ratio.toFixed(2)} | ${verdict(ratio <= 1.1)} | ${main} | ${more.toFixed(1)} | ${verdict(more <= 2.5)} |`,
    );
  }
  for (const gateway of [off, on]) await gateway.stop();
  const { rows, bytes } = await readLeft(on);
  print(`\nrecords.db: ${(bytes / rows).toFixed(0)} MB per million calls`);
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

/** Calls it so many times a second, as smoothly as timers allow; the CPU time of this thread meanwhile, in us. */
async function pour(
  perSecond: number,
  run: () => unknown,
  onTurn: () => void,
): Promise<{ readonly given: number; readonly cpu: number }> {
  const before = mainThreadMicros(process.pid);
  const startedMs = performance.now();
  let given = 0;
  for (let elapsedMs = 0; elapsedMs < (quick ? 3_000 : 10_000); elapsedMs = performance.now() - startedMs) {
    for (; given < (elapsedMs / 1_000) * perSecond; given += 1) run();
    onTurn();
    await pause(5);
  }
  return { given, cpu: mainThreadMicros(process.pid) - before };
}

/** More than any disk takes, into the store itself: what is not written has to be counted. */
async function measureFlood(): Promise<void> {
  const folder = mkdtempSync(join(directory, "flood-"));
  const store = createSqlStore({
    folder,
    auditKey: new Uint8Array(32),
    clock: systemClock,
    redact: (_kind, row) => row,
    workerFile: pathToFileURL(here("../dist/cli/sql-worker.js")),
  });
  const about = { team: null, principal: "local", client: "bench", instance: "s0", server: "s0", via: "http" };
  const what = { method: "tools/call", name: "s0:echo", outcome: "ok", code: null, traceId: null, body: null } as const;
  const figures = { durationMs: 1.234, waitMs: 0, argumentTokens: 6, resultTokens: 12, isResultCut: false };
  const line = { team: null, instance: "s0", server: "s0", level: "info", line: "still here" } as const;
  let rows = 0;
  // Servers write lines meanwhile.
  const append = (): boolean => {
    const own = { id: store.nextId(), atMs: Date.now() };
    rows += 1;
    if (rows % 200 === 0) return store.append("log", { ...own, ...line });
    return store.append("request", { ...own, ...about, ...what, ...figures });
  };
  const head = "given | written | dropped | sum | most queued | goal 20,000 | most RSS MB | main thread us a row";
  print(`\n| rows into the store | ${head} |`);
  print("|---|---|---|---|---|---|---|---|---|");
  let made = 0;
  const make = (): void => void (made += store.nextId() > 0 ? 1 : 0);
  // The first time is for V8.
  for (const perSecond of [20_000, 1_000, 10_000, 100_000, 1_000_000]) {
    const before = store.figures();
    const { cpu: bare } = await pour(perSecond, make, () => undefined);
    let [most, resident] = [0, 0];
    const { given, cpu } = await pour(perSecond, append, () => {
      most = Math.max(most, store.figures().queuedRows);
      resident = Math.max(resident, residentBytes(process.pid) / 1e6);
    });
    const main = (cpu - bare) / given;
    await store.flush();
    const { writtenRows, droppedRows } = store.figures();
    const dropped = droppedRows.queue - before.droppedRows.queue;
    const written = writtenRows - before.writtenRows;
    const sum = verdict(written + dropped === given);
    const bounds = `${most} | ${verdict(most <= 20_000)} | ${resident.toFixed(0)}`;
    print(`| ${perSecond}/s | ${given} | ${written} | ${dropped} | ${sum} | ${bounds} | ${main.toFixed(2)} |`);
  }
  await store.close(10_000);
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
  print(`\nFirst tools/list: ${median(times.off).toFixed(0)} ms off, ${median(times.sqlite).toFixed(0)} ms on`);
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
  const parts = { calls: measureCalls, load: measureLoad, flood: measureFlood, start: measureStart, idle: measureIdle };
  print(`Node ${process.versions.node}`);
  for (const [name, measure] of Object.entries(parts)) if (only?.includes(name) !== false) await measure();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
