import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuMicros, startMeasured, type Measured } from "./measure/process.ts";

/**
 * How much longer the first call after a start takes than the second: what is loaded, compiled and looked up only then.
 * Each round starts the gateway and a raw forwarder (the floor), which checks no arguments, on the same real server.
 * `npm run bench bench/first-call.ts [-- --rounds=7 --only=memory]`. Medians; what is judged is the gateway's
 * difference beyond the floor's.
 */
const rounds = Number(process.argv.find((argument) => argument.startsWith("--rounds="))?.slice(9) ?? 7);
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice(7) ?? "";
const targetMs = 30;
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const installed = (name: string): string => here(`../node_modules/@modelcontextprotocol/${name}/dist/index.js`);
const directory = mkdtempSync(join(tmpdir(), "toolyard-bench-"));

interface Case {
  readonly name: string;
  readonly script: string;
  readonly tool: string;
  readonly args: object;
  /** What an agent searches for before its call. */
  readonly query?: string;
}

const cases: readonly Case[] = [
  {
    name: "server-everything, two numbers",
    script: installed("server-everything"),
    tool: "get-sum",
    args: { a: 2, b: 3 },
  },
  {
    name: "server-memory, a list of objects",
    script: installed("server-memory"),
    tool: "create_entities",
    args: { entities: [{ name: "x", entityType: "letter", observations: ["comes before y"] }] },
  },
  ...[undefined, "label a message"].map((query): Case => ({
    name: query === undefined ? "an unusual schema" : "the same, found before",
    script: here("./servers/echo.mjs"),
    tool: "label",
    args: { message: "x", labels: ["a", "b"] },
    ...(query === undefined ? {} : { query }),
  })),
];

/** One call: how long it took, and the CPU time of the program in between. */
interface Called {
  readonly text: string;
  readonly tookMs: number;
  readonly cpuMs: number;
}

/** The first two calls after a start. */
type Calls = readonly [first: Called, second: Called];

async function post(target: Measured, path: string, method: string, params: object): Promise<string> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(`${target.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return await answer.text();
}

async function call(target: Measured, { tool, args }: Case): Promise<Called> {
  const params = { name: "execute_mcp_tool", arguments: { tool_path: `s0:${tool}`, arguments: args } };
  const cpuBefore = cpuMicros(target.pid);
  const startedMs = performance.now();
  const text = await post(target, "/mcp", "tools/call", params);
  const tookMs = performance.now() - startedMs;
  return { text, tookMs, cpuMs: (cpuMicros(target.pid) - cpuBefore) / 1_000 };
}

/** Waits for the tool without calling it. */
async function untilListed(gateway: Measured, tool: string): Promise<void> {
  while (!(await post(gateway, "/mcp/flat", "tools/list", {})).includes(`${tool}"`))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

/** As an agent finds its tool. Its model then takes longer than this to write the call. */
async function search(gateway: Measured, query: string): Promise<void> {
  await post(gateway, "/mcp", "tools/call", { name: "discover_mcp_tools", arguments: { query } });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
}

/** What a first call has set going, such as the compiling of its schema, is over after this long. */
const settledMs = 1_000;

async function withSecond(target: Measured, item: Case, first: Called): Promise<Calls> {
  await new Promise((resolve) => setTimeout(resolve, settledMs));
  const second = await call(target, item);
  for (const { text } of [first, second])
    if (!text.includes('"result":') || text.includes('"isError":true')) throw new Error(`${item.name}: ${text}`);
  return [first, second];
}

async function throughGateway(item: Case, round: string): Promise<Calls> {
  const file = join(directory, `${round}.json`);
  writeFileSync(file, JSON.stringify({ mcpServers: { s0: { command: process.execPath, args: [item.script] } } }));
  const flags = ["--config", file, "--port", "0", "--data-dir", join(directory, round), "--log-level", "error"];
  const gateway = await startMeasured([here("../dist/cli/main.js"), "serve", ...flags], environment(round));
  try {
    await untilListed(gateway, item.tool);
    if (item.query !== undefined) await search(gateway, item.query);
    return await withSecond(gateway, item, await call(gateway, item));
  } finally {
    await gateway.stop();
  }
}

async function throughFloor(item: Case, round: string): Promise<Calls> {
  const floor = await startMeasured([here("./servers/floor-many.mjs"), "1", item.script], environment(round));
  try {
    let first = await call(floor, item);
    while (first.text.includes('"not yet"')) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      first = await call(floor, item);
    }
    return await withSecond(floor, item, first);
  } finally {
    await floor.stop();
  }
}

/** server-memory keeps what it is told in a file. */
function environment(round: string): Record<string, string> {
  return { MEMORY_FILE_PATH: join(directory, `${round}.jsonl`) };
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** What the first call takes more than the second. */
function extra(calls: readonly Calls[], figure: "tookMs" | "cpuMs"): number {
  return median(calls.map(([first, second]) => first[figure] - second[figure]));
}

function print(...cells: readonly (string | number)[]): void {
  const texts = cells.map((cell) => (typeof cell === "number" ? cell.toFixed(1) : cell));
  process.stdout.write(`| ${texts.join(" | ")} |\n`);
}

try {
  const sides = ["first call ms", "second ms", "its CPU ms beyond the second's"];
  const head = [
    ...sides,
    ...sides.map((side) => `forwarder: ${side}`),
    "first over second, beyond the forwarder's, ms",
  ];
  print("arguments checked", ...head, "target", "");
  print("---", ...head.map(() => "---:"), "---:", "---");
  for (const [index, item] of cases.filter(({ name }) => name.includes(only)).entries()) {
    const ours: Calls[] = [];
    const theirs: Calls[] = [];
    for (let round = 0; round < rounds; round += 1) {
      theirs.push(await throughFloor(item, `floor-${index}-${round}`));
      ours.push(await throughGateway(item, `gateway-${index}-${round}`));
    }
    const beyondMs = extra(ours, "tookMs") - extra(theirs, "tookMs");
    const figures = [ours, theirs].flatMap((calls) => [
      median(calls.map(([first]) => first.tookMs)),
      median(calls.map(([, second]) => second.tookMs)),
      extra(calls, "cpuMs"),
    ]);
    print(item.name, ...figures, beyondMs, targetMs, beyondMs <= targetMs ? "ok" : "OVER");
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
