import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { cpuMicros } from "./measure/process.ts";

/**
 * How long a client that starts `toolyard stdio` waits for its first list of tools, where no gateway runs: some leave a
 * server out that takes longer than a second. Ten servers are configured, which are started as npx starts them, and
 * as many processes as there are cores keep these busy. `node scripts/run-bench.mjs bench/stdio-start.ts [--starts=50]
 * [--busy=2]`.
 */
const given = (name: string, fallback: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3) ?? fallback);
const starts = given("starts", 50);
const busy = given("busy", availableParallelism());
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const main = here("../dist/cli/main.js");
const directory = mkdtempSync(join(tmpdir(), "toolyard-stdio-start-"));

/** A process that starts another, and passes its pipes on. */
const asNpx =
  "require('node:child_process').spawn(process.execPath,[process.argv[1]],{stdio:'inherit'}).on('exit',(code)=>process.exit(code))";

function configure(): string {
  const file = join(directory, "toolyard.json");
  const entry = {
    command: process.execPath,
    args: ["-e", asNpx, here("./servers/echo.mjs")],
    env: { BENCH_TOOLS: "20" },
  };
  const mcpServers = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`server-${index}`, entry]));
  writeFileSync(file, JSON.stringify({ mcpServers }));
  return file;
}

interface Start {
  /** From spawn to the answered list, of a client that asks as the handshake lets it. */
  readonly takenMs: number;
  /** Of the command and of the gateway until then: says on a machine with other work how much there is to do. */
  readonly cpuMs: number;
}

/** The process of the gateway that was started in this folder. */
function gatewayIn(dataDir: string): number {
  const lock = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).find((name) =>
    name.endsWith("gateway.lock"),
  );
  return (JSON.parse(readFileSync(join(dataDir, lock ?? ""), "utf8")) as { readonly pid: number }).pid;
}

async function startOnce(config: string, dataDir: string): Promise<Start> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [main, "stdio", "--config", config, "--data-dir", dataDir], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ask = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "codex-mcp-client", version: "1" };
  ask({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { id } = JSON.parse(line) as { readonly id?: number };
      if (id === 1) {
        ask({ method: "notifications/initialized" });
        ask({ id: 2, method: "tools/list" });
      }
      if (id === 2) {
        const takenMs = performance.now() - startedMs;
        return { takenMs, cpuMs: (cpuMicros(child.pid ?? 0) + cpuMicros(gatewayIn(dataDir))) / 1_000 };
      }
    }
    throw new Error("it ended without a list");
  } finally {
    child.stdin.end();
    spawnSync(process.execPath, [main, "stop", "--config", config, "--data-dir", dataDir]);
  }
}

const busyProcesses: ChildProcess[] = [];
try {
  const config = configure();
  const before = loadavg()[0] ?? 0;
  for (let index = 0; index < busy; index += 1) busyProcesses.push(spawn(process.execPath, ["-e", "for (;;);"]));
  const taken: Start[] = [];
  for (let index = 0; index < starts; index += 1) taken.push(await startOnce(config, join(directory, `data-${index}`)));
  const at = (share: number, member: keyof Start = "takenMs"): string => {
    const sorted = taken.map((start) => start[member]).toSorted((one, other) => one - other);
    return (sorted[Math.ceil(share * starts) - 1] ?? Number.NaN).toFixed(0);
  };
  process.stdout.write(
    `| starts | busy processes | load before | p50 ms | p95 ms | max ms | CPU ms, p50 |\n|---|---|---|---|---|---|---|\n| ${starts} | ${busy} | ${before.toFixed(1)} | ${at(0.5)} | ${at(0.95)} | ${at(1)} | ${at(0.5, "cpuMs")} |\n`,
  );
} finally {
  for (const child of busyProcesses) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
}
