import { hash } from "node:crypto";
import { buildNames } from "../../src/catalog/model/names/names.ts";
import type { InstanceCatalog, ToolEntry } from "../../src/catalog/model/snapshot.ts";
import { lexicalEngine, never, toRequest } from "../retrieval/engines.ts";
import { discoverCost, longQueries, type DiscoverCost } from "../retrieval/discover-cost.ts";
import { toParts, type CorpusTool } from "../retrieval/data.ts";
import { costOf, lagWhile, usedBytes, type Cost } from "./cost.ts";

export interface ToolsPoint {
  readonly tools: number;
  readonly servers: number;
  /** From nothing to an index that can be searched. */
  readonly buildMs: number;
  readonly buildCpuMs: number;
  /** The same where no definition is that of another tool: nothing is read once for many. */
  readonly distinctCpuMs: number;
  /** The longest that anything else had to wait meanwhile, and what all but one in a hundred turns took at most. */
  readonly worstLagMs: number;
  readonly p99LagMs: number;
  /** The most CPU of the whole process, collector threads included, from one turn to the next. */
  readonly worstTurnCpuMs: number;
  readonly indexBytes: number;
  /** CPU of making the names by which a flat list shows and calls all tools, and the most of one step. */
  readonly namesCpuMs: number;
  readonly longestNamesStepMs: number;
  /** Questions of the set, and ones of thirty words. */
  readonly search: Cost;
  readonly searchLong: Cost;
  /** Questions that are asked once each, so that what is remembered of words serves only where they are the same. */
  readonly searchOnce: Cost;
  /** Search and answer. */
  readonly discover: DiscoverCost;
  readonly discoverLong: DiscoverCost;
}

/** One view with so many tools: those of the sets, and then the same again under other servers' names. */
export async function measureTools(
  size: number,
  pool: readonly CorpusTool[],
  queries: readonly string[],
): Promise<ToolsPoint> {
  const parts = hashed(toParts(repeated(pool, size)));
  const distinctCpuMs = await distinctCost(parts);
  const engine = lexicalEngine();
  // The language is read once, whatever is indexed.
  await engine.prepare(parts.slice(0, 1), never);
  const before = usedBytes();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const lag = await lagWhile(async () => await engine.prepare(parts, never));
  const buildMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const indexBytes = usedBytes() - before;
  const ask = (texts: readonly string[]) => async (round: number) =>
    void (await engine.search(toRequest(texts[round % texts.length] as string, parts), never));
  const long = longQueries(queries);
  const once = questionsOnce(pool);
  for (const texts of [queries, long]) await costOf(queries.length, ask(texts));
  return {
    tools: size,
    servers: parts.length,
    buildMs,
    buildCpuMs: (user + system) / 1_000,
    distinctCpuMs,
    ...lag,
    indexBytes,
    ...(await namesCost(parts)),
    search: await bestOfThree(async () => await costOf(queries.length, ask(queries))),
    searchLong: await bestOfThree(async () => await costOf(long.length, ask(long))),
    searchOnce: await costOf(once.length, ask(once)),
    discover: await discoverCost(queries, parts),
    discoverLong: await discoverCost(long, parts),
  };
}

/** Each definition's hash, as the gateway has it, in place of the tool's name in its set. */
function hashed(parts: readonly InstanceCatalog[]): InstanceCatalog[] {
  return parts.map((part) => ({ ...part, tools: part.tools.map((tool) => withHash(tool, tool.definition)) }));
}

function withHash(tool: ToolEntry, definition: ToolEntry["definition"]): ToolEntry {
  return { ...tool, definition, hash: hash("sha256", JSON.stringify(definition), "hex") };
}

/** CPU of indexing tools that all say something else. */
async function distinctCost(parts: readonly InstanceCatalog[]): Promise<number> {
  let count = 0;
  const distinct = parts.map((part) => ({
    ...part,
    tools: part.tools.map((tool) => {
      count += 1;
      const { description = "" } = tool.definition;
      return withHash(tool, { ...tool.definition, description: `${description} number ${count}` });
    }),
  }));
  const engine = lexicalEngine();
  await engine.prepare(parts.slice(0, 1), never);
  const { cpuUs } = await costOf(1, async () => await engine.prepare(distinct, never));
  return cpuUs / 1_000;
}

/** What the first flat list, or call by a flat name, of a view has made; in turns from two thousand tools on. */
async function namesCost(
  parts: readonly InstanceCatalog[],
): Promise<Pick<ToolsPoint, "namesCpuMs" | "longestNamesStepMs">> {
  const slugged = parts.map((part) => {
    const server = part.server.replaceAll(/[^\w.-]/g, "-") as InstanceCatalog["server"];
    return { ...part, tools: part.tools.map((tool) => ({ ...tool, server })) };
  });
  const names = buildNames(slugged.map((catalog) => ({ catalog, namespace: catalog.server })));
  const steps = names.inSteps("flat") ?? [];
  let longest = 0;
  const { cpuUs } = await costOf(1, async () => {
    let last = process.cpuUsage();
    for (const _step of steps) {
      const { user, system } = process.cpuUsage(last);
      longest = Math.max(longest, (user + system) / 1_000);
      last = process.cpuUsage();
    }
  });
  return { namesCpuMs: cpuUs / 1_000, longestNamesStepMs: longest };
}

/** Made of what tools say of themselves, because there are not enough questions. */
function questionsOnce(pool: readonly CorpusTool[]): string[] {
  const step = Math.ceil(pool.length / 400);
  return pool
    .filter((_, at) => at % step === 0)
    .map(({ name, description = "" }) => `${name} ${description}`.split(/\s+/).slice(0, 7).join(" "));
}

/** What other processes do on the machine is not ours. */
async function bestOfThree(measure: () => Promise<Cost>): Promise<Cost> {
  const costs = [await measure(), await measure(), await measure()];
  return costs.reduce((best, cost) => (cost.p95Ms < best.p95Ms ? cost : best));
}

function repeated(pool: readonly CorpusTool[], size: number): CorpusTool[] {
  return Array.from({ length: size }, (_, at) => {
    const tool = pool[at % pool.length] as CorpusTool;
    const round = Math.floor(at / pool.length);
    return round === 0 ? tool : { ...tool, id: `${round} ${tool.id}`, server: `${round} ${tool.server}` };
  });
}
