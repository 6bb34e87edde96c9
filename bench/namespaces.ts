import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Gateway } from "../src/app/embedded/toolyard.ts";
import { startManyServers, type ManyServer } from "../test/harness/many-servers.ts";
import { load, percentile, type LoadResult } from "./measure/load.ts";
import { cpuMicros, startMeasured, type Measured } from "./measure/process.ts";
import { readCorpus } from "./retrieval/data.ts";

/**
 * Namespaces and REST on 1,478 tools of 50 servers (`BENCH_DATA`: the `real_mcp` corpus, served by one local HTTP
 * server) and on 400 tools of 4. `node scripts/run-bench.mjs bench/namespaces.ts [--quick]`
 */
const quick = process.argv.includes("--quick");
const dataDirectory = process.env["BENCH_DATA"] ?? ".cache/retrieval";
const root = fileURLToPath(new URL("..", import.meta.url));
const concurrency = 32;
const listRequests = quick ? 4_000 : 20_000;
const callRequests = quick ? 2_000 : 8_000;
const rounds = quick ? 3 : 7;
/** What a server somewhere in the network takes to list its tools. */
const listDelayMs = 50;
const targets = { listP99Ms: 5, executeRatio: 1.2 };

async function main(): Promise<void> {
  if (process.argv[2] === "serve") {
    await serve(process.argv[3] ?? "");
    return;
  }
  if (!existsSync(join(dataDirectory, "corpus/real_mcp.json"))) {
    process.stderr.write(
      `No data in ${dataDirectory}: set BENCH_DATA, or run \`npm run bench:collect\` for the corpus of npm servers.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const rows: string[][] = [["corpus", "what", "value", "target"]];
  for (const corpus of ["real_mcp", "four"] as const) {
    for (const row of await measureCorpus(corpus))
      rows.push([corpus === "four" ? "400 tools, 4 servers" : "1,478 tools, 50 servers", ...row]);
  }
  process.stdout.write(
    `${rows
      .map((row) => `| ${row.join(" | ")} |`)
      .join("\n")
      .replace("\n", "\n|---|---|---|---|\n")}\n`,
  );
}

function corpusServers(name: string): ManyServer[] {
  if (name === "four") {
    return Array.from({ length: 4 }, (_, server) => ({
      key: `server-${server}`,
      tools: Array.from({ length: 100 }, (_tool, index) => ({
        name: `tool_${index}`,
        description: `Does thing number ${index} with a document, a folder or a message`,
        inputSchema: {
          type: "object",
          properties: { path: { type: "string", description: "where it lies" }, depth: { type: "integer" } },
        },
      })),
    }));
  }
  const servers = new Map<string, { name: string; description?: string; inputSchema: object }[]>();
  for (const { server, name: tool, description, inputSchema } of readCorpus(dataDirectory, name).tools) {
    const entry = { name: tool, ...(description === undefined ? {} : { description }), inputSchema };
    servers.set(server, [...(servers.get(server) ?? []), entry]);
  }
  return [...servers].map(([key, tools]) => ({ key, tools: [...tools] }));
}

/** In a process of its own, so that its work is not the gateway's. */
async function serve(corpus: string): Promise<void> {
  const servers = corpusServers(corpus);
  // One cheap tool to call, beside those of the corpus.
  const first = servers[0] as ManyServer;
  const many = await startManyServers(
    [
      {
        ...first,
        tools: [
          ...first.tools,
          { name: "bench_echo", inputSchema: { type: "object", properties: { message: { type: "string" } } } },
        ],
      },
      ...servers.slice(1),
    ],
    { listDelayMs },
  );
  process.send?.(many.mcpServers);
}

async function measureCorpus(corpus: string): Promise<string[][]> {
  const child = fork(fileURLToPath(import.meta.url), ["serve", corpus], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    const [mcpServers] = (await once(child, "message")) as [Record<string, object>];
    return [
      ...(await measureRequests(mcpServers)),
      ...(await measureLoading(mcpServers)),
      ...(await measureMemory(mcpServers)),
    ];
  } finally {
    await end(child);
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill();
  await exited;
}

async function withGateway<T>(config: object, run: (gateway: Measured) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-bench-"));
  const file = join(directory, "toolyard.json");
  await writeFile(file, JSON.stringify(config));
  const gateway = await startMeasured([
    join(root, "dist/cli/main.js"),
    "serve",
    "--config",
    file,
    "--port",
    "0",
    "--data-dir",
    join(directory, "data"),
    "--log-level",
    "error",
  ]);
  try {
    await untilOnline(gateway.url);
    return await run(gateway);
  } finally {
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function untilOnline(url: string): Promise<void> {
  for (;;) {
    const { servers } = (await (await fetch(`${url}/api/servers`)).json()) as {
      servers: readonly { status: string; toolCount: number }[];
    };
    if (servers.length > 0 && servers.every(({ status, toolCount }) => status === "online" && toolCount > 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function measureRequests(mcpServers: object): Promise<string[][]> {
  return await withGateway({ mcpServers }, async ({ url, pid }) => {
    const rows: string[][] = [];
    for (const path of ["/namespaces", "/list/apps"]) {
      const list = async (): Promise<LoadResult> =>
        await load(url, "", { path, method: "GET", connections: concurrency, requests: listRequests });
      await list();
      const results: LoadResult[] = [];
      for (let round = 0; round < rounds; round += 1) results.push(await list());
      const share = (part: number): string => ms(median(results.map(({ latencies }) => percentile(latencies, part))));
      rows.push([
        `GET ${path}, c=${concurrency}: p50 / p99 / per second`,
        `${share(0.5)} / ${share(0.99)} / ${Math.round((listRequests / median(results.map(({ durationMs }) => durationMs))) * 1_000)}`,
        `p99 < ${targets.listP99Ms} ms`,
      ]);
    }
    const server = Object.keys(mcpServers)[0] as string;
    const rest = { path: `/execute/${server}:bench_echo`, body: '{"message":"hello"}' };
    const mcp = {
      path: "/mcp",
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_mcp_tool","arguments":{"tool_path":"${server}:bench_echo","arguments":{"message":"hello"}}}}`,
    };
    for (const connections of [1, concurrency]) {
      const one = async ({ path, body }: typeof rest): Promise<{ p50: number; cpu: number }> => {
        const before = cpuMicros(pid);
        const { latencies } = await load(url, body, { path, connections, requests: callRequests });
        return { p50: percentile(latencies, 0.5), cpu: (cpuMicros(pid) - before) / callRequests };
      };
      await one(rest);
      await one(mcp);
      const samples: { rest: { p50: number; cpu: number }; mcp: { p50: number; cpu: number } }[] = [];
      for (let round = 0; round < rounds; round += 1)
        samples.push(
          round % 2 === 0
            ? { rest: await one(rest), mcp: await one(mcp) }
            : { mcp: await one(mcp), rest: await one(rest) },
        );
      const [restCpu, mcpCpu] = [
        median(samples.map((sample) => sample.rest.cpu)),
        median(samples.map((sample) => sample.mcp.cpu)),
      ];
      rows.push([
        `execute, c=${connections}: p50 REST / MCP / ratio`,
        `${ms(median(samples.map((sample) => sample.rest.p50)))} / ${ms(median(samples.map((sample) => sample.mcp.p50)))} / ${median(samples.map((sample) => sample.rest.p50 / sample.mcp.p50)).toFixed(2)}`,
        `ratio < ${targets.executeRatio}`,
      ]);
      rows.push([
        `execute, c=${connections}: CPU REST / MCP / ratio`,
        `${restCpu.toFixed(0)} µs / ${mcpCpu.toFixed(0)} µs / ${median(samples.map((sample) => sample.rest.cpu / sample.mcp.cpu)).toFixed(2)}`,
        "",
      ]);
    }
    return rows;
  });
}

/** Entries older than the TTL, so that every load asks its server; at most 20 of them. */
async function measureLoading(mcpServers: object): Promise<string[][]> {
  const keys = Object.keys(mcpServers).slice(0, 20);
  const times: number[] = [];
  for (const parallelLoading of [true, false]) {
    times.push(
      await withGateway(
        { mcpServers, toolyard: { namespaces: { cacheTtlMs: 1_000, parallelLoading } } },
        async ({ url }) => {
          await new Promise((resolve) => setTimeout(resolve, 1_500));
          const startedMs = performance.now();
          await Promise.all(
            keys.map(async (key) => await (await fetch(`${url}/list/apps/${key}/tools`)).arrayBuffer()),
          );
          return performance.now() - startedMs;
        },
      ),
    );
  }
  return [
    [
      `loading ${keys.length} namespaces of servers ${listDelayMs} ms away: in parallel / one by one`,
      times.map(ms).join(" / "),
      "",
    ],
  ];
}

/** In this process, where the heap can be cleared of garbage first. */
async function measureMemory(mcpServers: object): Promise<string[][]> {
  const cells: string[] = [];
  for (const maxLoaded of [20, 10_000]) {
    const directory = await mkdtemp(join(tmpdir(), "toolyard-bench-"));
    const gateway = await openGateway({ mcpServers, toolyard: { namespaces: { maxLoaded } } }, directory);
    try {
      await gateway.ready();
      const { url } = await gateway.listen({ port: 0 });
      const get = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as Record<string, never[]>;
      const { namespaces = [] } = await get("/namespaces");
      const before = await heapBytes();
      let most = 0;
      for (const { name } of namespaces as readonly { readonly name: string }[]) {
        await get(`/list/apps/${name}/tools`);
        most = Math.max(most, (await get("/api/namespaces/stats"))["loaded"]?.length ?? 0);
      }
      cells.push(`${most} loaded at most, +${(((await heapBytes()) - before) / 1e6).toFixed(1)} MB`);
    } finally {
      await gateway[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    }
  }
  return [
    [
      `heap after loading all ${Object.keys(mcpServers).length}: cap 20 / no cap`,
      cells.join(" / "),
      "bounded by the cap",
    ],
  ];
}

/** The built one, in this process. */
async function openGateway(config: object, dataDir: string): Promise<Gateway> {
  const { createGateway } = (await import(
    pathToFileURL(join(root, "dist/embedded/toolyard.js")).href
  )) as typeof import("../src/app/embedded/toolyard.ts");
  return await createGateway({ config, dataDir, cwd: dataDir, log: { level: "silent" } });
}

async function heapBytes(): Promise<number> {
  const { gc } = globalThis as { gc?: () => void };
  for (let round = 0; round < 3; round += 1) {
    gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage().heapUsed;
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
}

await main();
