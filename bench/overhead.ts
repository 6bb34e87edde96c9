import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load, percentile } from "./measure/load.ts";
import { cpuMicros, residentBytes, startMeasured, type Measured } from "./measure/process.ts";

/**
 * What the gateway costs per call beside a raw forwarder (the floor) in the same run. Ratios are medians over rounds in
 * which the two take turns. `node scripts/run-bench.mjs bench/overhead.ts [--quick]`
 */
const quick = process.argv.includes("--quick");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice(7);
const rounds = quick ? 3 : 9;
const warmRounds = 2;
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

interface Case {
  readonly name: string;
  readonly upstream: "stdio" | "http";
  readonly era: "legacy" | "modern";
  readonly connections: number;
  readonly requests: number;
  readonly method: "call" | "list" | "big" | "prose" | "discover";
  readonly target: number;
}

/** Searches among so many tools, each beside a small call through the floor, which knows no search. */
const searches: readonly (Case & { readonly tools: number })[] = [
  { tools: 100, target: 2.5 },
  { tools: 1_000, target: 4 },
].map(({ tools, target }) => ({
  name: `discover, ${tools} tools c=1`,
  ...{ upstream: "stdio", era: "legacy", connections: 1, method: "discover", tools, target },
  requests: quick ? 1_000 : 3_000,
}));
/** A server has a hundred, of which some are not made for their number. */
const toolsOfOne = 100;
const fixedTools = 5;

const calls = quick ? 4_000 : 12_000;
const cases: readonly Case[] = [
  ...(["stdio", "http"] as const).flatMap((upstream) =>
    (["legacy", "modern"] as const).flatMap((era): Case[] => [
      {
        name: `${upstream} ${era} c=1`,
        upstream,
        era,
        connections: 1,
        requests: calls / 2,
        method: "call",
        target: upstream === "stdio" ? 1.35 : 1.15,
      },
      {
        name: `${upstream} ${era} c=32`,
        upstream,
        era,
        connections: 32,
        requests: calls,
        method: "call",
        target: upstream === "stdio" ? 1.4 : 0.9,
      },
    ]),
  ),
  {
    name: "tools/list c=32",
    upstream: "stdio",
    era: "legacy",
    connections: 32,
    requests: calls,
    method: "list",
    target: 1.3,
  },
  {
    name: "1 MB result c=1",
    upstream: "stdio",
    era: "legacy",
    connections: 1,
    requests: quick ? 60 : 150,
    method: "big",
    target: 0.25,
  },
  {
    name: "1 MB of real text c=1",
    upstream: "stdio",
    era: "legacy",
    connections: 1,
    requests: quick ? 60 : 150,
    method: "prose",
    target: 0.25,
  },
];

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`;

/** Many different questions: what was found before is found faster. */
function questions(): readonly string[] {
  const words = "document folder message number search weather customer branch file issue table chart".split(" ");
  return words.flatMap((first) =>
    words.flatMap((second) => words.map((third) => `find the ${first} of a ${second} and write it to the ${third}`)),
  );
}

function toSearches(): readonly string[] {
  return questions().map((query) =>
    JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "discover_mcp_tools", arguments: { query } },
    }),
  );
}

function toRequest(item: Case): { body: string; headers: Record<string, string> } {
  const isModern = item.era === "modern";
  const method = item.method === "list" ? "tools/list" : "tools/call";
  const isSmall = item.method === "call" || item.method === "discover";
  const tool = isSmall ? "echo" : item.method;
  const call = `"name":"execute_mcp_tool","arguments":{"tool_path":"echo:${tool}","arguments":${isSmall ? '{"message":"hello"}' : "{}"}}`;
  const params = [...(item.method === "list" ? [] : [call]), ...(isModern ? [meta] : [])].join(",");
  const headers = isModern
    ? {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        ...(item.method === "list" ? {} : { "Mcp-Name": "execute_mcp_tool" }),
      }
    : {};
  return {
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params}}}`,
    headers: headers as Record<string, string>,
  };
}

const rule = (at: number): object => {
  return { servers: ["prod-*"], tools: [`write_${at}*`], when: { path: ["/etc/*"] }, then: "deny" };
};
/** What may be judged of calls, by how much of it is on. */
const safety = {
  off: { policy: { ask: [] }, definitions: { changes: "note" } },
  default: {},
  on: {
    policy: {
      secrets: "patterns",
      flows: [{ after: "private", effects: ["send", "destroy"], then: "ask" }],
      rules: Array.from({ length: 20 }, (_, at) => rule(at)),
    },
    definitions: { changes: "hold" },
  },
};

interface Round {
  readonly cpu: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

async function measure(target: Measured, path: string, item: Case, isFloor = false): Promise<Round> {
  const { body, headers } = toRequest(item);
  const before = cpuMicros(target.pid);
  const result = await load(target.url, item.method === "discover" && !isFloor ? toSearches() : body, {
    connections: item.connections,
    requests: item.requests,
    headers,
    path,
  });
  const cpu = (cpuMicros(target.pid) - before) / result.requests;
  return {
    cpu,
    rate: result.requests / (result.durationMs / 1_000),
    p50: percentile(result.latencies, 0.5),
    p99: percentile(result.latencies, 0.99),
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function row(...cells: readonly (string | number)[]): void {
  process.stdout.write(
    `| ${cells.map((cell) => (typeof cell === "number" ? cell.toFixed(cell < 10 ? 2 : 1) : cell)).join(" | ")} |\n`,
  );
}

/** Returns the ratio to the floor. */
async function runCase(item: Case, floor: Measured, gateway: Measured): Promise<number> {
  // What V8 compiles on the way is not the cost of a call.
  for (let round = 0; round < warmRounds; round += 1) {
    await measure(floor, "/mcp", item, true);
    await measure(gateway, "/mcp", item);
  }
  const pairs: { ours: Round; theirs: Round }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const theirs = await measure(floor, "/mcp", item, true);
    pairs.push({ theirs, ours: await measure(gateway, "/mcp", item) });
  }
  const ours = median(pairs.map((pair) => pair.ours.cpu));
  const theirs = median(pairs.map((pair) => pair.theirs.cpu));
  const ratio = median(pairs.map((pair) => pair.ours.cpu / pair.theirs.cpu));
  row(
    item.name,
    median(pairs.map((pair) => pair.theirs.rate)),
    median(pairs.map((pair) => pair.ours.rate)),
    median(pairs.map((pair) => pair.ours.p50)),
    median(pairs.map((pair) => pair.ours.p99)),
    theirs,
    ours,
    ratio,
    item.target,
    ratio <= item.target ? "ok" : "OVER",
  );
  return ratio;
}

const directory = mkdtempSync(join(tmpdir(), "toolyard-bench-"));
const started: Measured[] = [];
try {
  row("case", "floor req/s", "req/s", "p50 ms", "p99 ms", "floor CPU us", "CPU us", "ratio", "target", "");
  row("---", "---", "---", "---", "---", "---", "---", "---", "---", "---");
  const ratios = new Map<string, number>();
  const notes: string[] = [];
  for (const upstream of ["stdio", "http"] as const) {
    const wanted = cases.filter(
      (item) => item.upstream === upstream && (only === undefined || item.name.includes(only)),
    );
    if (wanted.length === 0) continue;
    const echo = upstream === "http" ? await startMeasured([here("./servers/echo.mjs"), "--http"]) : undefined;
    if (echo !== undefined) started.push(echo);
    const server =
      echo === undefined
        ? { command: process.execPath, args: [here("./servers/echo.mjs")] }
        : { type: "http", url: echo.url };
    const floor = await startMeasured([
      here("./servers/floor.mjs"),
      ...(echo === undefined ? [] : ["--http", echo.url]),
    ]);
    const gateway = await startGateway(upstream, { echo: server });
    started.push(floor);
    await untilCallable(gateway);
    for (const item of wanted) ratios.set(item.name, await runCase(item, floor, gateway));
    notes.push(
      `RSS after ${upstream}: floor ${(residentBytes(floor.pid) / 1e6).toFixed(0)} MB, gateway ${(residentBytes(gateway.pid) / 1e6).toFixed(0)} MB`,
    );
  }
  for (const item of searches) {
    if (only !== undefined && !item.name.includes(only)) continue;
    const env = { BENCH_TOOLS: String(toolsOfOne - fixedTools) };
    const server = { command: process.execPath, args: [here("./servers/echo.mjs")], env };
    const count = item.tools / toolsOfOne;
    const others = Array.from({ length: count - 1 }, (_, index) => [`s${index}`, server] as const);
    const gateway = await startGateway(`discover-${item.tools}`, { echo: server, ...Object.fromEntries(others) });
    const floor = await startMeasured([here("./servers/floor.mjs")]);
    started.push(floor);
    await untilCallable(gateway);
    await runCase(item, floor, gateway);
  }
  // After the table, which they would cut in two.
  process.stdout.write(`\n${notes.join("\n\n")}\n`);
  if (only === undefined || only === "safety") await compareSafety();
  for (const upstream of ["stdio", "http"]) {
    for (const connections of [1, 32]) {
      const legacy = ratios.get(`${upstream} legacy c=${connections}`);
      const modern = ratios.get(`${upstream} modern c=${connections}`);
      if (legacy !== undefined && modern !== undefined)
        process.stdout.write(
          `\nmodern / legacy, each against the floor in its era, ${upstream} c=${connections}: ${(modern / legacy).toFixed(2)} (target 1.1)\n`,
        );
    }
  }
} finally {
  for (const target of started.reverse()) await target.stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Calls that no rule stops, with what judges calls switched off, as it is by default, and with all of it. */
async function compareSafety(): Promise<void> {
  row("judged calls", "off CPU us", "default CPU us", "all on CPU us", "default / off", "all on / off");
  row("---", "---", "---", "---", "---", "---");
  const server = { command: process.execPath, args: [here("./servers/echo.mjs")], content: ["private"] };
  const gateways: Measured[] = [];
  for (const [name, settings] of Object.entries(safety)) {
    const gateway = await startGateway(`safety-${name}`, { echo: server }, settings);
    await untilCallable(gateway);
    gateways.push(gateway);
  }
  for (const item of cases.filter(({ upstream, method }) => upstream === "stdio" && method === "call")) {
    const measured: number[][] = gateways.map(() => []);
    for (let round = 0; round < warmRounds + rounds; round += 1)
      for (const [at, gateway] of gateways.entries()) {
        const { cpu } = await measure(gateway, "/mcp", item);
        if (round >= warmRounds) measured[at]?.push(cpu);
      }
    const [off = [], ...others] = measured;
    const ratios = others.map((one) => median(one.map((cpu, at) => cpu / (off[at] ?? Number.NaN))));
    row(item.name, ...measured.map(median), ...ratios);
  }
}

async function startGateway(name: string, mcpServers: object, settings: object = {}): Promise<Measured> {
  const configFile = join(directory, `${name}.json`);
  writeFileSync(configFile, JSON.stringify({ mcpServers, toolyard: { results: { maxTokens: 0 }, ...settings } }));
  const files = ["--config", configFile, "--data-dir", join(directory, name)];
  const gateway = await startMeasured([
    ...[here("../dist/cli/main.js"), "serve", ...files, "--port", "0", "--log-level", "error"],
  ]);
  started.push(gateway);
  return gateway;
}

/** The tool must be known before anything is measured. */
async function untilCallable(gateway: Measured): Promise<void> {
  const { body } = toRequest(cases[0] as Case);
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answer = await fetch(`${gateway.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    if ((await answer.text()).includes("Echo: hello")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the echo tool did not come up");
}
