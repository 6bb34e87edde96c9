import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cachedPackage } from "../../scripts/conformance/cached-package.mjs";
import { cpuMicros, residentBytes } from "../measure/process.ts";
import { peers, type Peer } from "./gateways.ts";

/**
 * The same calls to the same real servers, by the same client, through this gateway and through others from npm, which
 * are installed into .cache/. `node scripts/run-bench.mjs bench/peers/run.ts [--calls=2000] [--rounds=5]`. Programs
 * take turns, and every figure is the median of the rounds: CPU time is that of the gateway's process alone, without
 * the servers behind it. The client's stands beside it, because it is one thread and works longer on a call than any of
 * the programs: it is what limits the calls a second, and how much it has to do depends on the transport.
 */
const option = (name: string, fallback: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`--${name}=`))?.split("=")[1] ?? fallback);
const calls = option("calls", 2_000);
const rounds = option("rounds", 5);
const atOnce = 16;
const directory = mkdtempSync(join(tmpdir(), "toolyard-peers-"));
const everything = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
const ownProgram = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const startWithinMs = 60_000;

interface Running {
  readonly name: string;
  readonly version: string;
  readonly about: string;
  readonly transport: Peer["transport"];
  readonly pid: number;
  readonly process: ChildProcess;
  readonly client: Client;
  readonly readyMs: number;
  readonly tool: { readonly name: string; readonly wrap: (args: object) => Record<string, unknown> };
}

const toolyard: Peer = {
  name: "toolyard",
  package: undefined,
  about: "this gateway: four tools",
  isGateway: true,
  transport: "http",
  args: ({ port, configFile }) => [
    ...["serve", "--config", configFile, "--port", String(port), "--log-level", "error"],
    ...["--data-dir", join(directory, `data-${port}`)],
  ],
  path: "/mcp",
  toolName: (server, tool) => `${server}-${tool}`,
};

/** For programs that serve nothing else: the SDK's client takes a quarter less time for a call over HTTP+SSE. */
const toolyardBySse: Peer = { ...toolyard, name: "toolyard, by HTTP+SSE", transport: "sse", path: "/sse" };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a program with the servers of a configuration, and waits until its tool answers. */
async function start(peer: Peer, servers: Record<string, object>): Promise<Running> {
  const port = await freePort();
  const configFile = join(directory, `${peer.name}-${port}.json`);
  writeFileSync(configFile, JSON.stringify({ mcpServers: servers }));
  const installed = peer.package === undefined ? ownProgram : await install(peer.package);
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [installed, ...peer.args({ port, configFile, command: [process.execPath, everything] })],
    {
      // Some keep what they know in the home directory.
      env: { ...process.env, HOME: directory },
      stdio: ["ignore", "ignore", "ignore"],
    },
  );
  const [server = ""] = Object.keys(servers);
  const name = peer.toolName(server, "echo");
  const tool =
    peer.package === undefined
      ? { name: "execute_mcp_tool", wrap: (args: object) => ({ tool_path: `${server}:echo`, arguments: args }) }
      : { name, wrap: (args: object) => ({ ...args }) };
  const client = await untilCallable(new URL(`http://127.0.0.1:${port}${peer.path}`), peer, tool);
  const version = installedVersion(peer, installed);
  return {
    ...{ name: peer.name, version, about: peer.about, transport: peer.transport },
    ...{ pid: child.pid as number, process: child, client, tool },
    readyMs: performance.now() - startedMs,
  };
}

/** That of the package: forwarders name the version of the server behind them. */
function installedVersion({ package: name }: Peer, program: string): string {
  const folder = name === undefined ? new URL("../../", import.meta.url) : `file://${dirname(program)}/../${name}/`;
  return (JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as { version: string }).version;
}

async function install(name: string): Promise<string> {
  return await cachedPackage(`peer-${name}`, `${name}@latest`, join("node_modules", ".bin", name));
}

async function untilCallable(url: URL, peer: Peer, tool: Running["tool"]): Promise<Client> {
  const deadlineMs = performance.now() + startWithinMs;
  for (;;) {
    const client = new Client({ name: "bench", version: "1" });
    try {
      const transport = peer.transport === "sse" ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
      await client.connect(transport as Transport);
      const result = await client.callTool({ name: tool.name, arguments: tool.wrap({ message: "ready" }) });
      if (JSON.stringify(result).includes("Echo: ready")) return client;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await client.close().catch(() => undefined);
    if (performance.now() > deadlineMs) throw new Error(`${peer.name} did not come up`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Figures {
  readonly cpuMicros: number;
  readonly clientMicros: number;
  readonly rate: number;
}

/** Connections that were idle while the others had their turn may be closed by the program while a call is sent. */
async function callEcho({ client, tool, name }: Running): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      await client.callTool({ name: tool.name, arguments: tool.wrap({ message: "hello" }) });
      return;
    } catch (error) {
      const isReset = error instanceof TypeError && error.message === "fetch failed";
      if (!isReset || attempt === 3) throw new Error(`a call through ${name} failed`, { cause: error });
    }
}

async function measure(target: Running, connections: number): Promise<Figures> {
  const { pid } = target;
  const [before, clientBefore] = [cpuMicros(pid), cpuMicros(process.pid)];
  const startedMs = performance.now();
  let left = calls;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await callEcho(target);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  const seconds = (performance.now() - startedMs) / 1_000;
  return {
    cpuMicros: (cpuMicros(pid) - before) / calls,
    clientMicros: (cpuMicros(process.pid) - clientBefore) / calls,
    rate: calls / seconds,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function row(...cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

async function stop({ client, process: child }: Running): Promise<void> {
  await client.close().catch(() => undefined);
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await exited;
  clearTimeout(timer);
}

async function compareCalls(all: readonly Peer[]): Promise<void> {
  const running: Running[] = [];
  for (const peer of all)
    running.push(await start(peer, { everything: { command: process.execPath, args: [everything] } }));
  const found = running.map(() => ({ one: [] as Figures[], many: [] as Figures[] }));
  for (let round = 0; round <= rounds; round += 1)
    for (const [at, target] of running.entries()) {
      const [one, many] = [await measure(target, 1), await measure(target, atOnce)];
      // In the first round V8 compiles.
      if (round === 0) continue;
      found[at]?.one.push(one);
      found[at]?.many.push(many);
    }
  row(
    "program",
    "version",
    "transport",
    "ready, ms",
    "CPU per call, us",
    `calls/s, ${atOnce} at once`,
    `CPU per call, us, ${atOnce} at once`,
    "the client's, us",
    "memory, MB",
  );
  row("---", "---", "---", "---:", "---:", "---:", "---:", "---:", "---:");
  for (const [at, target] of running.entries()) {
    const figures = found[at];
    if (figures === undefined) continue;
    row(
      target.name,
      target.version,
      target.transport === "sse" ? "HTTP+SSE" : "Streamable HTTP",
      target.readyMs.toFixed(0),
      median(figures.one.map(({ cpuMicros: cpu }) => cpu)).toFixed(0),
      median(figures.many.map(({ rate }) => rate)).toFixed(0),
      median(figures.many.map(({ cpuMicros: cpu }) => cpu)).toFixed(0),
      median(figures.many.map(({ clientMicros: cpu }) => cpu)).toFixed(0),
      (residentBytes(target.pid) / 1e6).toFixed(0),
    );
  }
  for (const target of running) await stop(target);
}

/** What a client's model reads at the start, and when every server can be called. */
async function compareServers(all: readonly Peer[], count: number): Promise<void> {
  const servers = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`everything${at}`, { command: process.execPath, args: [everything] }]),
  );
  row("program", `first server callable, ms`, "tools listed", "tokens of the list", "memory, MB");
  row("---", "---:", "---:", "---:", "---:");
  for (const peer of all.filter(({ isGateway }) => isGateway)) {
    const target = await start(peer, servers);
    // Some list servers as they come up.
    let tools = (await target.client.listTools()).tools;
    for (let attempt = 0; attempt < 40; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      const again = (await target.client.listTools()).tools;
      if (again.length === tools.length && attempt > 20) break;
      tools = again;
    }
    const tokens = countTokens(JSON.stringify(tools));
    row(
      peer.name,
      target.readyMs.toFixed(0),
      String(tools.length),
      String(tokens),
      (residentBytes(target.pid) / 1e6).toFixed(0),
    );
    await stop(target);
  }
}

try {
  process.stdout.write(`${cpus().length} cores, ${cpus()[0]?.model ?? ""}, Node ${process.versions.node}\n\n`);
  process.stdout.write(`${calls} calls of one real server's \`echo\` in each of ${rounds} rounds:\n\n`);
  await compareCalls([toolyard, toolyardBySse, ...peers]);
  process.stdout.write("\nTen servers with 13 tools each, by the gateways among them:\n\n");
  await compareServers([toolyard, ...peers], 10);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
