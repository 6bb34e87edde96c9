// What checking costs: start of the worker, compilation, a check, memory, and how long hostile schemas hold up the main
// thread. `npm run bench bench/validation.ts`
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createValidators, type Validators } from "../src/engine/validation/validators.ts";
import type { Verdict } from "../src/engine/validation/validator-cache.ts";
import { systemClock } from "../src/kernel/runtime/clock.ts";
import type { JsonObject } from "../src/kernel/text/json-bytes.ts";
import { hostileSchemas } from "./hostile-schemas.ts";

const workerFile = new URL("../dist/cli/compile-worker.js", import.meta.url);
const never = new AbortController().signal;
const issueSchema: JsonObject = {
  type: "object",
  properties: {
    owner: { type: "string", minLength: 1 },
    repo: { type: "string", pattern: "^[\\w.-]+$" },
    title: { type: "string", maxLength: 256 },
    // What makes it one for the compiler.
    labels: { type: "array", items: { type: "string" }, contains: { minLength: 1 } },
    state: { enum: ["open", "closed"] },
  },
  required: ["owner", "repo", "title"],
  additionalProperties: false,
};
/** The dearest kind of plain schema: one of its patterns needs RE2. */
const plainSchema: JsonObject = {
  type: "object",
  properties: {
    repo: { type: "string", pattern: "^[a-z0-9_-]+$" },
    address: { $ref: "#/$defs/address" },
  },
  $defs: { address: { type: "string", pattern: "^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}$" } },
};
const issue = {
  owner: "octocat",
  repo: "hello-world",
  title: "It does not work",
  labels: ["bug", "urgent"],
  state: "open",
};

await using validators = createValidators({ clock: systemClock, workerFile });
const before = residentMb();
const patternMs = await timed(async () => {
  const verdict = await validators.prepare("plain", plainSchema, never);
  if (verdict !== "unvalidated") verdict.check({ repo: "hello-world", address: "10.0.0.1" });
});
const firstMs = await timed(() => validators.prepare("first", issueSchema, never));
const secondMs = await timed(() => validators.prepare("second", { ...issueSchema, title: "again" }, never));
const withWorker = residentMb();
row("first plain schema with patterns, and a check", `${patternMs.toFixed(1)} ms`);
row("first schema, with the worker's start", `${firstMs.toFixed(1)} ms`);
row("a typical schema after it", `${secondMs.toFixed(2)} ms`);
row("RSS before / with worker", `${before} / ${withWorker} MB`);
row("a check of it, hot", `${hotCheckUs(validators.lookup("first")).toFixed(3)} us`);
await realTools(validators);
await hostile();

async function realTools(target: Validators): Promise<void> {
  const file = join(process.env["BENCH_DATA"] ?? ".cache/retrieval", "corpus/real_mcp.json");
  if (!existsSync(file)) return row("real tools", "no data");
  const { tools } = JSON.parse(readFileSync(file, "utf8")) as {
    tools: { id: string; inputSchema: JsonObject }[];
  };
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  let unvalidated = 0;
  const ms = await timed(async () => {
    for (const tool of tools)
      if ((await target.prepare(tool.id, tool.inputSchema, never)) === "unvalidated") unvalidated += 1;
  });
  lag.disable();
  row(
    `${tools.length} real tools`,
    `${(ms / tools.length).toFixed(2)} ms each, ${unvalidated} unvalidated, lag max ${(lag.max / 1e6).toFixed(1)} ms`,
  );
  row("RSS with all of them", `${residentMb()} MB`);
}

async function hostile(): Promise<void> {
  for (const { name, schema, value } of hostileSchemas()) {
    let why = "";
    const onUnvalidated = (_hash: string, reason: string) => (why = `: ${reason.slice(0, 60)}`);
    await using fresh = createValidators({ clock: systemClock, workerFile, onUnvalidated });
    await fresh.prepare("warm", { type: "object" }, never);
    const lag = monitorEventLoopDelay({ resolution: 1 });
    await sleep(20);
    lag.enable();
    await sleep(5);
    let verdict: Verdict = "unvalidated";
    const prepareMs = await timed(async () => (verdict = await fresh.prepare("hostile", schema, never)));
    await sleep(5);
    const checkMs = await timed(async () => checkOf(verdict, value));
    await sleep(5);
    lag.disable();
    const kind = (verdict as Verdict) === "unvalidated" ? `unvalidated${why}` : "compiled";
    row(
      name,
      `${kind} in ${prepareMs.toFixed(0)} ms, checked in ${checkMs.toFixed(1)} ms, lag max ${(lag.max / 1e6).toFixed(1)} ms`,
    );
  }
}

function checkOf(verdict: Verdict, value: unknown): void {
  if (verdict !== "unvalidated") verdict.check(value);
}

function hotCheckUs(verdict: Verdict | undefined): number {
  if (verdict === undefined || verdict === "unvalidated") return Number.NaN;
  for (let round = 0; round < 50_000; round++) verdict.check(issue);
  const startMs = performance.now();
  for (let round = 0; round < 200_000; round++) verdict.check(issue);
  return ((performance.now() - startMs) * 1000) / 200_000;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}

function residentMb(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}

function row(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(40)} ${figure}\n`);
}
