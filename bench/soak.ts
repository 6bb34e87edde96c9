/**
 * Twenty minutes of everything at once: sessions come, call, and go or are left; servers change their lists, crash and
 * are reconfigured; calls are right, wrong, large, late and given up; streams are opened and dropped. The first half
 * goes at four times the pace, so that all that is kept up to a limit (results, indexes, words) has reached its limit
 * when the last half begins. Prints each minute what lives in the gateway after a collection, and at the end the slope
 * of the last half (goal: 0.2 MB a minute) and what is left at rest. `npm run bench bench/soak.ts [-- --minutes=20]`
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway, type RunningGateway } from "../test/harness/gateway.ts";
import { execute, modernRpc, rpc, send } from "../test/harness/rpc.ts";
import { until } from "../test/harness/until.ts";
import { printTable } from "./instances/table.ts";

const minutes = Number(process.argv.find((argument) => argument.startsWith("--minutes="))?.slice(10) ?? 20);
const goalPerMinute = 0.2;
const sessionIdleMs = 20_000;
const restMs = 90_000;
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const main = file("../dist/cli/main.js");
const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));
const oneOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;
const word = (): string => Math.random().toString(36).slice(2, 8);

const names = ["ash", "birch", "cedar", "elm"] as const;
const restless = (tools: number): object => ({
  command: process.execPath,
  args: [file("servers/restless.mjs")],
  env: { BENCH_TOOLS: String(tools) },
});
const steady = { command: process.execPath, args: [file("servers/echo.mjs")] };

/** What changes of the configuration: a server's environment, which servers there are, and what is said of them. */
function configOf(version: number): object {
  return {
    mcpServers: {
      steady: { ...steady, description: `Echoes, version ${version % 5}` },
      ...Object.fromEntries(names.map((name, at) => [name, restless(30 + ((version + at) % 3))])),
      ...(version % 2 === 1 ? { visitor: restless(20) } : {}),
    },
    toolyard: { limits: { sessionIdleMs } },
  };
}

interface Sample {
  readonly atMin: number;
  readonly heapMb: number;
  readonly residentMb: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly sessions: number;
}

function processesOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? 0 : children.split(" ").reduce((sum, child) => sum + 1 + processesOf(Number(child)), 0);
}

async function sample(gateway: RunningGateway, lives: string, startedMs: number): Promise<Sample> {
  const pid = gateway.process.pid as number;
  rmSync(lives, { force: true });
  gateway.process.kill("SIGUSR2");
  const text = await until(() => readText(lives));
  const { heapUsed, external, rss } = JSON.parse(text) as Record<"heapUsed" | "external" | "rss", number>;
  const { text: metrics } = await send(`${gateway.url}/metrics`, { method: "GET" });
  return {
    atMin: (performance.now() - startedMs) / 60_000,
    heapMb: (heapUsed + external) / 1e6,
    residentMb: rss / 1e6,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: processesOf(pid),
    sessions: Number(/^toolyard_sessions (\d+)/m.exec(metrics)?.[1]),
  };
}

function readText(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return text.endsWith("}") ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Each is done again and again by several at once, with pauses. */
function traffic(
  gateway: RunningGateway,
): readonly { readonly run: () => Promise<unknown>; readonly everyMs: number }[] {
  const { url, configFile } = gateway;
  const endpoint = `${url}/mcp`;
  const found = (): string => `${oneOf(names)}:${oneOf(["echo", "large", "fail", "nosuch", `tool_${word()}`])}`;
  let version = 0;
  let served = 0;

  async function session(): Promise<void> {
    const clientInfo = { name: oneOf(["one", "two", `c-${word()}`]), version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const opened = await rpc(oneOf([endpoint, `${endpoint}/flat`]), "initialize", params);
    const headers = {
      "mcp-session-id": String(opened.headers["mcp-session-id"]),
      "mcp-protocol-version": "2025-06-18",
    };
    await rpc(endpoint, "tools/list", {}, headers);
    for (let calls = 0; calls < 3; calls += 1) {
      const args = { tool_path: found(), arguments: { text: word() } };
      await rpc(endpoint, "tools/call", { name: "execute_mcp_tool", arguments: args }, headers);
    }
    // Every second one goes without a word.
    served += 1;
    if (served % 2 === 0) await send(endpoint, { method: "DELETE", headers });
  }

  async function reconfigure(): Promise<void> {
    version += 1;
    await writeFile(`${configFile}.new`, JSON.stringify(configOf(version)));
    await rename(`${configFile}.new`, configFile);
  }

  /** Opened and dropped in the middle. */
  async function drop(path: string, body?: string): Promise<void> {
    const accept = "application/json, text/event-stream";
    const options = {
      method: body === undefined ? "GET" : "POST",
      headers: { accept, "content-type": "application/json" },
    };
    const request = httpRequest(url + path, { ...options, agent: false });
    request.on("error", () => undefined).on("response", (response) => response.on("error", () => undefined).resume());
    request.end(body);
    await pause(300);
    request.destroy();
  }

  const late = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"ash:late","arguments":{}}}}`;
  const discover = (): object => ({ name: "discover_mcp_tools", arguments: { query: `${word()} ${word()} folder` } });
  return [
    ...Array.from({ length: 4 }, () => ({ run: session, everyMs: 100 })),
    ...Array.from({ length: 4 }, () => ({
      run: async () => await execute(url, found(), { text: word() }),
      everyMs: 50,
    })),
    {
      run: async () =>
        await modernRpc(endpoint, "tools/call", {
          name: "execute_mcp_tool",
          arguments: { tool_path: found(), arguments: { [word()]: word() } },
        }),
      everyMs: 60,
    },
    { run: async () => await rpc(endpoint, "tools/call", discover()), everyMs: 100 },
    { run: async () => await execute(url, "steady:echo", { message: word() }), everyMs: 20 },
    { run: async () => await execute(url, `${oneOf(names)}:change`), everyMs: 1_000 },
    { run: async () => await execute(url, `${oneOf(names)}:crash`), everyMs: 8_000 },
    { run: async () => await drop("/mcp", late), everyMs: 700 },
    { run: async () => await drop("/api/events"), everyMs: 900 },
    { run: async () => await rpc(`${endpoint}/flat`, "tools/list"), everyMs: 500 },
    {
      run: async () => await send(`${url}/api/${oneOf(["servers", "tools", "calls", "status"])}`, { method: "GET" }),
      everyMs: 500,
    },
    { run: reconfigure, everyMs: 10_000 },
  ];
}

async function soak(): Promise<void> {
  const lives = join(process.env["TMPDIR"] ?? "/tmp", `toolyard-soak-${process.pid}.json`);
  const env = { LIVE_HEAP: lives, NODE_OPTIONS: `--import=${file("measure/live-heap.mjs")}` };
  await using gateway = await startGateway({ config: configOf(0), env, main, args: ["--log-level", "error"] });
  const startedMs = performance.now();
  const untilMs = startedMs + minutes * 60_000;
  let isOver = false;
  let done = 0;
  let failed = 0;
  const running = traffic(gateway).map(async ({ run, everyMs }) => {
    while (!isOver) {
      await run().then(
        () => (done += 1),
        () => (failed += 1),
      );
      const pace = performance.now() - startedMs < minutes * 30_000 ? 4 : 1;
      await pause((everyMs * (0.5 + Math.random())) / pace);
    }
  });
  const samples: Sample[] = [];
  while (performance.now() < untilMs) {
    await pause(Math.min(30_000, minutes * 3_000));
    samples.push(await sample(gateway, lives, startedMs));
    process.stdout.write(`${JSON.stringify(samples.at(-1))}\n`);
  }
  isOver = true;
  await Promise.all(running);
  await writeFile(gateway.configFile, JSON.stringify(configOf(0)));
  await pause(restMs);
  const rest = await sample(gateway, lives, startedMs);
  const cells = ({ atMin, heapMb, residentMb, ...counts }: Sample): readonly (string | number)[] => [
    ...[atMin, heapMb, residentMb].map((value) => value.toFixed(1)),
    ...Object.values(counts),
  ];
  printTable(
    `${minutes} minutes: ${done} things done, ${failed} without an answer`,
    ["minute", "live MB", "resident MB", "descriptors", "processes", "sessions"],
    [...samples.filter((_, at) => at % 2 === 1).map(cells), ["at rest", ...cells(rest).slice(1)]],
  );
  const slope = slopeOf(samples.filter(({ atMin }) => atMin >= minutes / 2));
  process.stdout.write(`slope of the last half: ${slope.toFixed(3)} MB a minute (goal: ${goalPerMinute})\n`);
}

/** By least squares, in MB a minute. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [time, heap] = [mean(({ atMin }) => atMin), mean(({ heapMb }) => heapMb)];
  const both = mean(({ atMin, heapMb }) => (atMin - time) * (heapMb - heap));
  return both / mean(({ atMin }) => (atMin - time) ** 2);
}

await soak();
