import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load, pace } from "./measure/load.ts";
import { cpuMicros, peakBytes, residentBytes, startMeasured, type Measured } from "./measure/process.ts";

/**
 * What calls leave in memory: after the first ones, after a rest, after a burst, with two hundred clients, with records
 * and without them; and what the largest results that are passed leave.
 * `node scripts/run-bench.mjs bench/memory.ts [--rest-s=60]`. Beside each figure the same of the raw forwarder, where
 * it can do that at all.
 */
const restSeconds = Number(process.argv.find((argument) => argument.startsWith("--rest-s="))?.slice(9) ?? 60);
const pacedClients = 200;
const pacedSeconds = 20;
const burst = { connections: 32, requests: 30_000 };
const hugeAtOnce = 4;
const hugeRounds = 5;
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const started: Measured[] = [];

function toCall(toolPath: string, args: object): string {
  const params = { name: "execute_mcp_tool", arguments: { tool_path: toolPath, arguments: args } };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
}

/** How many bytes the answer has. */
async function post(target: Measured, body: string): Promise<number> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${target.url}/mcp`, { method: "POST", headers, body });
  let length = 0;
  for await (const piece of answer.body ?? []) length += (piece as Uint8Array).length;
  return length;
}

async function startGateway(name: string, config: object): Promise<Measured> {
  const file = join(directory, `${name}.json`);
  writeFileSync(file, JSON.stringify(config));
  const flags = ["--config", file, "--port", "0", "--data-dir", join(directory, name), "--log-level", "error"];
  const gateway = await startMeasured([here("../dist/cli/main.js"), "serve", ...flags]);
  started.push(gateway);
  return gateway;
}

const stores = ["sqlite", "off"] as const;
type StoreSetting = (typeof stores)[number];
const named: Readonly<Record<StoreSetting, string>> = { sqlite: "", off: ", without records" };

/**
 * A gateway with so many servers that was started before, as all are but for once: the first start makes the databases.
 * Returns when all servers can be called.
 */
async function startAgain(name: string, servers: number, store: StoreSetting): Promise<Measured> {
  const start = async (): Promise<Measured> => {
    const config = { mcpServers: echoes(servers), toolyard: { records: { store } } };
    const gateway = await startGateway(`${name}-${store}`, config);
    for (let index = 0; index < servers; index += 1) {
      const body = toCall(`s${index}:echo`, { message: "x" });
      while ((await post(gateway, body)) < JSON.stringify("Echo: x").length) await wait(0.1);
    }
    return gateway;
  };
  const first = await start();
  started.splice(started.indexOf(first), 1);
  await first.stop();
  return await start();
}

async function startFloor(): Promise<Measured> {
  const floor = await startMeasured([here("./servers/floor.mjs")]);
  started.push(floor);
  return floor;
}

function row(...cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
const wait = async (seconds: number): Promise<void> =>
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

function echoes(count: number): Record<string, object> {
  const server = { command: process.execPath, args: [here("./servers/echo.mjs")], env: { BENCH_TOOLS: "96" } };
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, server]));
}

/** Ten servers with a thousand tools: listed, called, searched, and left alone, and again after a burst. */
async function measureFirstCalls(store: StoreSetting): Promise<void> {
  const gateway = await startAgain("first-calls", 10, store);
  const report = (what: string): void => row(`${what}${named[store]}`, megabytes(residentBytes(gateway.pid)), "", "");
  for (let index = 0; index < 20; index += 1) await post(gateway, toCall(`s${index % 10}:echo`, { message: "x" }));
  report("ten servers, 1,000 tools, after 30 calls");
  const search = { name: "discover_mcp_tools", arguments: { query: "repeat a message" } };
  await post(gateway, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: search }));
  report("and a search");
  await wait(restSeconds);
  report(`and ${restSeconds} s of rest`);
  await load(gateway.url, toCall("s0:echo", { message: "x" }), { ...burst, path: "/mcp" });
  report(`after ${burst.requests} calls, ${burst.connections} at once`);
  await wait(restSeconds);
  report(`and ${restSeconds} s of rest`);
}

/** Peaks, because that is what a machine must have. Returns what the calls of these clients cost in CPU time. */
async function measureClients(): Promise<readonly string[]> {
  const gateways = await Promise.all(stores.map(async (store) => await startAgain("clients", 1, store)));
  const floor = await startFloor();
  const body = toCall("s0:echo", { message: "x" });
  const [theirCpu = 0, ...ourCpu] = await Promise.all(
    [floor, ...gateways].map(async (target) => {
      const before = cpuMicros(target.pid);
      await pace(target.url, body, { clients: pacedClients, seconds: pacedSeconds, path: "/mcp" });
      return (cpuMicros(target.pid) - before) / (pacedClients * pacedSeconds);
    }),
  );
  const theirs = peakBytes(floor.pid);
  for (const [at, gateway] of gateways.entries()) {
    const ours = peakBytes(gateway.pid);
    row(
      `${pacedClients} clients, a call a second each: peak${named[stores[at] ?? "sqlite"]}`,
      megabytes(ours),
      megabytes(theirs),
      (ours / theirs).toFixed(2),
    );
  }
  return ourCpu.map(
    (micros, at) =>
      `CPU time of a call of these clients${named[stores[at] ?? "sqlite"]}: ${micros.toFixed(0)} us, ${(micros / theirCpu).toFixed(2)} times that of the raw forwarder`,
  );
}

/** Results of 31 MiB, which the limits let through when they are told to. */
async function measureHuge(): Promise<void> {
  const toolyard = { limits: { upstreamMessageBytes: 40 * 1_048_576 }, results: { maxTokens: 0 } };
  const gateway = await startGateway("huge", { mcpServers: { echo: echoes(1)["s0"] }, toolyard });
  const floor = await startFloor();
  const body = toCall("echo:huge", {});
  for (const target of [gateway, floor])
    for (let round = 0; round < hugeRounds; round += 1)
      await Promise.all(Array.from({ length: hugeAtOnce }, async () => await post(target, body)));
  const [ours, theirs] = [peakBytes(gateway.pid), peakBytes(floor.pid)];
  const size = megabytes(await post(gateway, body));
  row(
    `results of ${size} MB, ${hugeAtOnce} at once: peak`,
    megabytes(ours),
    megabytes(theirs),
    (ours / theirs).toFixed(2),
  );
  await wait(restSeconds);
  row(`and ${restSeconds} s of rest`, megabytes(residentBytes(gateway.pid)), megabytes(residentBytes(floor.pid)), "");
}

try {
  row("resident memory", "MB", "raw forwarder MB", "ratio");
  row("---", "---", "---", "---");
  for (const store of stores) await measureFirstCalls(store);
  const costs = await measureClients();
  await measureHuge();
  // After the table, which they would cut in two.
  process.stdout.write(`\n${costs.join("\n\n")}\n`);
} finally {
  for (const target of started.reverse()) await target.stop();
  rmSync(directory, { recursive: true, force: true });
}
