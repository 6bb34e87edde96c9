// What counting costs: one call in the sinks of usage and of finding, and the memory of the thread that counts tokens.
// `npm run bench bench/usage.ts`, after `npm run build`.
import { createEventBus } from "../src/kernel/events/event-bus.ts";
import { systemClock } from "../src/kernel/runtime/clock.ts";
import type { EventOf } from "../src/kernel/events/event.ts";
import { localPrincipal } from "../src/kernel/principal.ts";
import { createFinding, type Sender } from "../src/records/usage/finding.ts";
import { createLazyNames } from "../src/catalog/model/names/lazy-names.ts";
import { createListCosts } from "../src/records/usage/list-costs.ts";
import { createTokenCounts } from "../src/records/usage/token-counts.ts";
import type { TokenCountStore } from "../src/store/store.ts";
import { createUsage } from "../src/records/usage/usage-log.ts";
import { metaExposure } from "../src/catalog/exposure/meta/meta.ts";
import { sampleInstance } from "../test/sample-catalog.ts";
import { sampleView } from "../test/sample-view.ts";

const workerFile = new URL("../dist/cli/token-worker.js", import.meta.url);
const calls = 2_000_000;
const tools = Array.from({ length: 1_000 }, (_, at) => ({
  name: `tool_${at}`,
  description: `Does what number ${at} does, and tells what came of it. `.repeat(8),
}));
const view = sampleView([sampleInstance("files", tools)]);
const entries = view.servers[0]?.tools ?? [];

row("usage, one call", `${perCallUs(measureUsage()).toFixed(3)} us`);
row("finding, one call through execute", `${perCallUs(measureFinding()).toFixed(3)} us`);
await measureCounting();

/** Fifty people, a thousand tools, ten clients. */
function measureUsage(): (at: number) => void {
  const events = createEventBus(fail);
  createUsage({ events, clock: systemClock, store: () => undefined, installationOf: (id) => id });
  const clients = Array.from({ length: 10 }, (_, at) => `client-${at}`);
  const given = Array.from({ length: 1_000 }, (_, at) => eventOf(`files:tool_${at}`, `p${at % 50}`, clients[at % 10]));
  return (at) => events.emit(given[at % given.length] as EventOf<"mcp.request.logs">);
}

function measureFinding(): (at: number) => void {
  const costs = createListCosts(
    { get: () => 10, load: async () => undefined, count: async () => undefined },
    createLazyNames(),
  );
  const finding = createFinding({ clock: systemClock, costs });
  const client: Sender["client"] = { era: "legacy", revision: "2025-11-25", name: "cursor", capabilities: {} };
  const from: Sender = { principal: localPrincipal, client };
  finding.listed(from, { view, exposure: metaExposure, client: undefined });
  return (at) => {
    const tool = entries[at % entries.length];
    if (tool !== undefined) finding.wrapped(from, tool);
  };
}

async function measureCounting(): Promise<void> {
  const store: TokenCountStore = {
    load: async () => undefined,
    save: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  await using counts = createTokenCounts({ store, clock: systemClock, workerFile });
  const costs = createListCosts(counts, createLazyNames());
  const before = residentMb();
  const startedMs = performance.now();
  let longestMs = 0;
  let lastMs = startedMs;
  const look = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 1);
  await costs.count(view, metaExposure);
  clearInterval(look);
  row("1,000 definitions, with the thread's start", `${Math.round(performance.now() - startedMs)} ms`);
  row("longest time in which this thread did nothing else", `${Math.round(longestMs)} ms`);
  const during = residentMb();
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  row("RSS before, with the thread, after it", `${before}, ${during}, ${residentMb()} MB`);
}

function perCallUs(run: (at: number) => void): number {
  for (let at = 0; at < calls / 10; at += 1) run(at);
  const startedMs = performance.now();
  for (let at = 0; at < calls; at += 1) run(at);
  return ((performance.now() - startedMs) * 1_000) / calls;
}

function eventOf(path: string, principal: string, client: string | undefined): EventOf<"mcp.request.logs"> {
  return {
    type: "mcp.request.logs",
    atMs: Date.now(),
    instance: "files",
    server: "files",
    principal,
    team: null,
    via: "http",
    client,
    method: "tools/call",
    name: path,
    path,
    durationMs: 3.5,
    waitMs: 0,
    argumentBytes: 120,
    resultBytes: 2_000,
    cutTokens: 0,
    serverCode: undefined,
    outcome: "ok",
  } as unknown as EventOf<"mcp.request.logs">;
}

function residentMb(): number {
  return Math.round(process.memoryUsage.rss() / 1e6);
}

function row(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(52)} ${value}\n`);
}

function fail(error: unknown): never {
  throw error;
}
