// What checking costs: reading a schema, a check, memory, and how long hostile schemas hold up the main thread.
// `npm run bench bench/validation.ts`
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createValidators, type Validators, type Verdict } from "../src/engine/validation/validators.ts";
import { systemClock } from "../src/kernel/runtime/clock.ts";
import type { JsonObject } from "../src/kernel/text/json-bytes.ts";
import { hostileSchemas } from "./hostile-schemas.ts";

const issueSchema: JsonObject = {
  type: "object",
  properties: {
    owner: { type: "string", minLength: 1 },
    repo: { type: "string", pattern: "^[\\w.-]+$" },
    title: { type: "string", maxLength: 256 },
    labels: { type: "array", items: { type: "string" }, contains: { minLength: 1 } },
    state: { enum: ["open", "closed"] },
  },
  required: ["owner", "repo", "title"],
  additionalProperties: false,
};
/** The dearest kind: one of its patterns needs RE2. */
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

const validators = createValidators({ clock: systemClock });
const before = residentMb();
const patternMs = timed(() => checkOf(validators.verdict("pattern", plainSchema), { address: "10.0.0.1" }));
const firstMs = timed(() => validators.verdict("first", issueSchema));
const secondMs = timed(() => validators.verdict("second", { ...issueSchema, title: "again" }));
row("first schema with patterns, and a check", `${patternMs.toFixed(1)} ms`);
row("first schema without, and a typical one", `${firstMs.toFixed(2)} / ${secondMs.toFixed(2)} ms`);
row("RSS before / with them", `${before} / ${residentMb()} MB`);
row("a check, hot", `${hotCheckUs(validators.verdict("first", issueSchema)).toFixed(3)} us`);
realTools(validators);
await hostile();

function realTools(target: Validators): void {
  const file = join(process.env["BENCH_DATA"] ?? ".cache/retrieval", "corpus/real_mcp.json");
  if (!existsSync(file)) return row("real tools", "no data");
  const { tools } = JSON.parse(readFileSync(file, "utf8")) as {
    tools: { id: string; inputSchema: JsonObject }[];
  };
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  let unvalidated = 0;
  const ms = timed(() => {
    for (const tool of tools) if (target.verdict(tool.id, tool.inputSchema) === "unvalidated") unvalidated += 1;
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
    const fresh = createValidators({ clock: systemClock, onUnchecked: (_hash, reason) => (why = reason.slice(0, 80)) });
    const lag = monitorEventLoopDelay({ resolution: 1 });
    await sleep(20);
    lag.enable();
    await sleep(5);
    let verdict: Verdict = "unvalidated";
    const readMs = timed(() => (verdict = fresh.verdict("hostile", schema)));
    await sleep(5);
    const checkMs = timed(() => checkOf(verdict, value));
    await sleep(5);
    lag.disable();
    row(
      name,
      `read in ${readMs.toFixed(1)} ms, checked in ${checkMs.toFixed(1)} ms, lag max ${(lag.max / 1e6).toFixed(1)} ms ${why}`,
    );
  }
}

function checkOf(verdict: Verdict, value: unknown): void {
  if (verdict !== "unvalidated") verdict.check(value);
}

function hotCheckUs(verdict: Verdict): number {
  if (verdict === "unvalidated") return Number.NaN;
  for (let round = 0; round < 50_000; round++) verdict.check(issue);
  const startMs = performance.now();
  for (let round = 0; round < 200_000; round++) verdict.check(issue);
  return ((performance.now() - startMs) * 1000) / 200_000;
}

function timed(run: () => unknown): number {
  const startMs = performance.now();
  run();
  return performance.now() - startMs;
}

function residentMb(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}

function row(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(40)} ${figure}\n`);
}
