import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuMicros, residentBytes, startMeasured } from "./measure/process.ts";

/**
 * How soon the gateway answers and its servers can be called, and what it holds in memory. `node scripts/run-bench.mjs
 * bench/startup.ts [--idle-s=60]`. Every figure stands beside the same of an empty node:http server, or of a raw
 * forwarder, of the same run.
 */
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const idleSeconds = Number(process.argv.find((argument) => argument.startsWith("--idle-s="))?.slice(9) ?? 60);
const directory = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const listBody = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

function print(...cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

/** Milliseconds from spawn until a POST is answered. */
async function untilAnswered(
  args: readonly string[],
): Promise<{ readyMs: number; target: Awaited<ReturnType<typeof startMeasured>> }> {
  const startedMs = performance.now();
  const target = await startMeasured(args);
  const answer = await fetch(`${target.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: listBody,
  });
  await answer.text();
  return { readyMs: performance.now() - startedMs, target };
}

/**
 * The floor for "callable": a raw forwarder that starts the same servers, from its own start until it has forwarded a
 * call to each.
 */
async function floorCallable(count: number): Promise<number> {
  const startedMs = performance.now();
  const floor = await startMeasured([here("./servers/floor-many.mjs"), String(count), here("./servers/slow.mjs")]);
  const callableMs = await untilAllCallable(floor.url, count, startedMs);
  await floor.stop();
  return callableMs;
}

async function untilAllCallable(url: string, count: number, startedMs: number): Promise<number> {
  const missing = new Set(Array.from({ length: count }, (_, index) => `s${index}`));
  while (missing.size > 0) {
    for (const name of missing) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"${name}:echo","arguments":{"message":"x"}}}}`;
      const text = await (
        await fetch(`${url}/mcp`, { method: "POST", headers: { "content-type": "application/json" }, body })
      ).text();
      if (text.includes("Echo: x")) missing.delete(name);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.now() - startedMs;
}

/** All tools are known; none was called, so that what only calls need is not loaded. */
async function untilListed(url: string, count: number): Promise<void> {
  for (;;) {
    const text = await (
      await fetch(`${url}/mcp/flat`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: listBody,
      })
    ).text();
    if (text.split('"inputSchema"').length - 1 >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waiting for thirty servers takes seconds. */
const callableRounds = 3;

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function writeConfig(name: string, servers: Readonly<Record<string, object>>): string {
  const file = join(directory, `${name}.json`);
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return file;
}

try {
  print(
    "upstreams (1 s each)",
    "first tools/list ms",
    "empty node:http ms",
    "ratio",
    "all callable ms",
    "raw forwarder ms",
    "ratio",
  );
  print("---", "---", "---", "---", "---", "---", "---");
  for (const count of [1, 10, 30]) {
    const servers = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `s${index}`,
        { command: process.execPath, args: [here("./servers/slow.mjs")] },
      ]),
    );
    const file = writeConfig(`slow-${count}`, servers);
    const ours: number[] = [];
    const empty: number[] = [];
    const callable: number[] = [];
    const raw: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      if (round < callableRounds) raw.push(await floorCallable(count));
      const floor = await untilAnswered([here("./servers/empty.mjs")]);
      empty.push(floor.readyMs);
      await floor.target.stop();
      const startedMs = performance.now();
      const gateway = await untilAnswered([
        here("../dist/cli/main.js"),
        "serve",
        "--config",
        file,
        "--port",
        "0",
        "--data-dir",
        join(directory, `data-${count}-${round}`),
        "--log-level",
        "error",
      ]);
      ours.push(gateway.readyMs);
      if (round < callableRounds) callable.push(await untilAllCallable(gateway.target.url, count, startedMs));
      await gateway.target.stop();
    }
    print(
      String(count),
      median(ours).toFixed(0),
      median(empty).toFixed(0),
      (median(ours) / median(empty)).toFixed(2),
      median(callable).toFixed(0),
      median(raw).toFixed(0),
      (median(callable) / median(raw)).toFixed(2),
    );
  }

  const many = writeConfig(
    "many",
    Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [
        `s${index}`,
        { command: process.execPath, args: [here("./servers/echo.mjs")], env: { BENCH_TOOLS: "96" } },
      ]),
    ),
  );
  const empty = await startMeasured([here("./servers/empty.mjs")]);
  const gateway = await startMeasured([
    here("../dist/cli/main.js"),
    "serve",
    "--config",
    many,
    "--port",
    "0",
    "--data-dir",
    join(directory, "data-many"),
    "--log-level",
    "error",
  ]);
  await untilListed(gateway.url, 1_000);
  await new Promise((resolve) => setTimeout(resolve, (idleSeconds / 2) * 1_000));
  const before = cpuMicros(gateway.pid);
  await new Promise((resolve) => setTimeout(resolve, (idleSeconds / 2) * 1_000));
  const idleCpu = (cpuMicros(gateway.pid) - before) / ((idleSeconds / 2) * 1_000_000);
  process.stdout.write(
    `\nTen servers, 1,000 tools, after ${idleSeconds} s idle: RSS ${(residentBytes(gateway.pid) / 1e6).toFixed(1)} MB (empty node:http ${(residentBytes(empty.pid) / 1e6).toFixed(1)} MB), CPU ${(idleCpu * 100).toFixed(2)} % of a core\n`,
  );
  await gateway.stop();
  await empty.stop();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
