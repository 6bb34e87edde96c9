/**
 * Starts, sleeps, memory: what instances cost. Run on an idle machine:
 *
 *   npm run bench bench/instances/run.ts [start|respawn|memory|sessions|calls|cycles ...]
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startGateway, type RunningGateway } from "../../test/harness/gateway.ts";
import { execute, rpc, send } from "../../test/harness/rpc.ts";
import { until } from "../../test/harness/until.ts";
import { childrenOf, discover } from "../../test/instances/observing.ts";
import { ownersWay } from "../../src/cli/gateway/rest-way.ts";
import { listGateways } from "../../src/store/files/safe/gateway-places.ts";
import { readStartTime } from "../../src/servers/process/process-table.ts";
import { inspectable, openHeapReader } from "./inspector.ts";
import { median, MiB, printTable } from "./table.ts";
import { tinyServer } from "./tiny-server.ts";

const parts: Readonly<Record<string, () => Promise<void>>> = { start, respawn, memory, sessions, calls, cycles };
/** The bundle of this file lies beside it, so that the path holds for both. */
const badServerFile = fileURLToPath(new URL("../../test/servers/bad-server.mjs", import.meta.url));
const badServer = (...flags: string[]) => ({ command: process.execPath, args: [badServerFile, ...flags] });
const sleepy = { idleGraceMs: 0, idleCheckMs: 100, idleTimeoutMs: 300 };

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-bench-"));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function toolCount(url: string): Promise<number> {
  return ((await discover(url, { query: "" })) as { total_tools: number }).total_tools;
}

function servers(count: number): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_value, index) => [`s${index}`, badServer("--tools", "5")]));
}

/**
 * From the command to the first answered tools/list, and until every tool is known; without and with a kept catalog.
 */
async function start(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const count of [1, 10, 50]) {
    await withDirectory(async (directory) => {
      const config = { mcpServers: servers(count), toolyard: { instances: sleepy } };
      for (const kind of ["cold", "warm", "warm"]) {
        const begunMs = performance.now();
        await using gateway = await startGateway({ config, directory });
        await rpc(`${gateway.url}/mcp`, "tools/list");
        const listedMs = performance.now() - begunMs;
        await until(async () => (await toolCount(gateway.url)) === count * 5, 120_000);
        rows.push([
          count,
          kind,
          Math.round(listedMs),
          Math.round(performance.now() - begunMs),
          childrenOf(gateway.process.pid).length,
        ]);
      }
    });
  }
  printTable(
    "Start of the gateway (ms from the command)",
    ["servers", "catalog", "tools/list", "all tools", "children then"],
    rows,
  );
}

/** A call for a server that sleeps, against starting the same server by hand and calling it. */
async function respawn(): Promise<void> {
  await withDirectory(async (directory) => {
    const [server] = Object.values(servers(1)) as [{ command: string; args: string[] }];
    await using gateway = await startGateway({
      config: { mcpServers: { s0: server }, toolyard: { instances: sleepy } },
      directory,
    });
    await until(async () => (await toolCount(gateway.url)) === 5);
    const through: number[] = [];
    const byHand: number[] = [];
    for (let round = 0; round < 21; round += 1) {
      await until(() => childrenOf(gateway.process.pid).length <= 1);
      // The gateway looks once more for what the server may have left: nobody calls in the very moment it fell asleep.
      await new Promise((resolve) => setTimeout(resolve, 500));
      const begunMs = performance.now();
      await execute(gateway.url, "s0:tool-1");
      through.push(performance.now() - begunMs);
      byHand.push(await callByHand(server));
    }
    const [ours, theirs] = [median(through), median(byHand)];
    printTable(
      "Respawn, ms, median of 21",
      ["through the gateway", "by hand", "overhead"],
      [[ours.toFixed(1), theirs.toFixed(1), (ours - theirs).toFixed(1)]],
    );
  });
}

async function callByHand(server: { command: string; args: string[] }): Promise<number> {
  const begunMs = performance.now();
  const child = spawn(server.command, server.args, { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (message: object): Promise<void> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    await lines.next();
  };
  await ask({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
  });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await ask({ id: 2, method: "tools/call", params: { name: "tool-1", arguments: {} } });
  const tookMs = performance.now() - begunMs;
  child.kill("SIGKILL");
  return tookMs;
}

/** A hundred servers configured, ten of them used: everything that runs then. */
async function memory(): Promise<void> {
  await withDirectory(async (directory) => {
    const config = { mcpServers: servers(100), toolyard: { instances: sleepy } };
    {
      await using first = await startGateway({ config, directory });
      await until(async () => (await toolCount(first.url)) === 500, 300_000);
    }
    await using gateway = await startGateway({ config: { ...config, toolyard: {} }, directory });
    await until(async () => (await toolCount(gateway.url)) === 500);
    const idle = await residentBytes(gateway.process.pid);
    for (let index = 0; index < 10; index += 1) await execute(gateway.url, `s${index}:tool-1`);
    const rows = await Promise.all(
      [gateway.process.pid ?? 0, ...childrenOf(gateway.process.pid)].map(
        async (pid) => [await commandOf(pid), await residentBytes(pid)] as const,
      ),
    );
    const total = rows.reduce((sum, [, bytes]) => sum + bytes, 0);
    const own = rows[0]?.[1] ?? 0;
    const guardian = rows
      .filter(([command]) => command.includes("toolyard-guardian"))
      .reduce((sum, [, bytes]) => sum + bytes, 0);
    printTable(
      "100 stdio servers configured, 10 used: resident MiB",
      ["gateway, none used", "gateway", "guardian", "10 servers", "everything", "processes"],
      [[MiB(idle), MiB(own), MiB(guardian), MiB(total - own - guardian), MiB(total), rows.length]],
    );
  });
}

/** A thousand clients that have initialized, each with its stream open. */
async function sessions(): Promise<void> {
  await withDirectory(async (directory) => {
    await using gateway = await startGateway({
      config: { mcpServers: { tiny: tinyServer } },
      directory,
      env: inspectable,
    });
    await until(async () => (await toolCount(gateway.url)) === 1);
    using heap = await openHeapReader(gateway);
    const before = await heap.liveBytes();
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b", version: "1" } },
    });
    const begunMs = performance.now();
    const ids: string[] = [];
    for (let batch = 0; batch < 20; batch += 1) {
      const made = await Promise.all(
        Array.from(
          { length: 50 },
          async () => await send(`${gateway.url}/mcp`, { headers: { "content-type": "application/json" }, body }),
        ),
      );
      ids.push(...made.map((answer) => String(answer.headers["mcp-session-id"])));
    }
    const tookMs = performance.now() - begunMs;
    const after = await heap.liveBytes();
    for (const id of ids) await send(`${gateway.url}/mcp`, { method: "DELETE", headers: { "mcp-session-id": id } });
    const ended = await heap.liveBytes();
    printTable(
      "1,000 sessions",
      ["ms to make", "bytes each", "MiB left over when all have ended", "resident MiB"],
      [
        [
          Math.round(tookMs),
          Math.round((after - before) / 1_000),
          MiB(ended - before),
          MiB(await residentBytes(gateway.process.pid)),
        ],
      ],
    );
  });
}

/** Live memory over 100,000 calls. */
async function calls(): Promise<void> {
  await withDirectory(async (directory) => {
    await using gateway = await startGateway({
      config: { mcpServers: { bad: badServer("--tools", "5") } },
      directory,
      env: inspectable,
    });
    await until(async () => (await toolCount(gateway.url)) === 5);
    using heap = await openHeapReader(gateway);
    await callMany(gateway, 20_000);
    const before = await heap.liveBytes();
    const begunMs = performance.now();
    await callMany(gateway, 100_000);
    const seconds = (performance.now() - begunMs) / 1_000;
    const after = await heap.liveBytes();
    printTable(
      "Memory over 100,000 calls",
      ["live MiB before", "after", "growth", "resident MiB", "calls/s"],
      [
        [
          MiB(before),
          MiB(after),
          MiB(after - before),
          MiB(await residentBytes(gateway.process.pid)),
          Math.round(100_000 / seconds),
        ],
      ],
    );
  });
}

async function callMany(gateway: RunningGateway, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "execute_mcp_tool", arguments: { tool_path: "bad:tool-1", arguments: {} } },
  });
  const one = async (): Promise<void> =>
    await new Promise((resolve, reject) => {
      const asked = request(
        `${gateway.url}/mcp`,
        {
          method: "POST",
          agent,
          headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
        },
        (response) => {
          response.resume();
          response.on("end", resolve);
        },
      );
      asked.on("error", reject);
      asked.end(body);
    });
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  agent.destroy();
}

/** A thousand times stopped and started: processes, descriptors and live memory before and after. */
async function cycles(): Promise<void> {
  await withDirectory(async (directory) => {
    await using gateway = await startGateway({
      config: { mcpServers: { tiny: tinyServer } },
      directory,
      env: inspectable,
    });
    await until(async () => (await toolCount(gateway.url)) === 1);
    using heap = await openHeapReader(gateway);
    const [place] = await listGateways({ dataDir: join(directory, "data"), startTimeOf: readStartTime });
    if (place === undefined) throw new Error("no lock");
    const { holder } = place;
    const restart = async (count: number): Promise<void> => {
      const request = { method: "POST", path: "/api/instances/tiny/restart" } as const;
      const headers = { "content-type": "application/json" };
      for (let cycle = 0; cycle < count; cycle += 1) await ownersWay(holder).send({ ...request, headers, body: "{}" });
    };
    const look = async (): Promise<(string | number)[]> => {
      // Patience with a server that stops lasts for ten seconds, also when it is gone at once.
      await new Promise((resolve) => setTimeout(resolve, 11_000));
      const live = await heap.liveBytes();
      return [
        childrenOf(gateway.process.pid).length,
        (await readdir(`/proc/${gateway.process.pid}/fd`)).length,
        MiB(live),
        MiB(await residentBytes(gateway.process.pid)),
      ];
    };
    await restart(50);
    const rows: (string | number)[][] = [[50, ...(await look())]];
    const begunMs = performance.now();
    for (const total of [250, 450, 650, 850, 1_050]) {
      await restart(200);
      rows.push([total, ...(await look())]);
    }
    const each = (performance.now() - begunMs) / 1_000;
    printTable(
      `1,000 spawn/stop cycles (${each.toFixed(1)} ms each, listener warnings: ${gateway.stderr().includes("MaxListeners") ? "YES" : "none"})`,
      ["cycles", "children", "descriptors", "live MiB", "resident MiB"],
      rows,
    );
  });
}

async function residentBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1_024;
}

async function commandOf(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ");
}

const asked = process.argv.slice(2);
for (const [name, run] of Object.entries(parts)) if (asked.length === 0 || asked.includes(name)) await run();
