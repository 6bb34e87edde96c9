import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { createLanguage } from "../../src/catalog/search/language.ts";
import { buildIndexPart } from "../../src/catalog/search/index/index-part.ts";
import { mergeParts } from "../../src/catalog/search/index/merge.ts";
import { corpusNames, readCorpus, readQueries, toParts, type CorpusTool, type DevQuery } from "./data.ts";
import { askEngine, askMiniSearch, lexicalEngine, phrasesOf } from "./engines.ts";
import { discoverCost, longQueries, type DiscoverCost } from "./discover-cost.ts";
import { measure, type Measured } from "./measure.ts";

const catalogSizes = [100, 500, 1_000, 1_478, 5_000, 10_000] as const;

export interface SizePoint {
  readonly tools: number;
  readonly servers: number;
  readonly lexical: Measured;
  readonly miniSearch: Measured;
  /** Full build: every part, and the merge. */
  readonly buildMs: number;
  /** One server of 25 tools changed: its part, and the merge. */
  readonly updateMs: number;
  readonly bytesPerTool: number;
  /** Search and answer, for these queries and for ones of thirty words. */
  readonly discover: DiscoverCost;
  readonly discoverLong: DiscoverCost;
}

/** The queries of `real_mcp`, while its own tools become few, and then foreign ones are added. */
export async function sizeCurve(directory: string): Promise<SizePoint[]> {
  const own = readCorpus(directory, "real_mcp").tools;
  const foreign = corpusNames
    .filter((name) => name !== "real_mcp" && existsSync(`${directory}/corpus/${name}.json`))
    .flatMap((name) =>
      readCorpus(directory, name).tools.map((tool) => ({
        ...tool,
        id: `${name} ${tool.id}`,
        server: `${name} ${tool.server}`,
      })),
    );
  const again = foreign.map((tool) => ({ ...tool, id: `again ${tool.id}`, server: `again ${tool.server}` }));
  const pool = [...shuffleServers(own), ...foreign, ...again];
  const queries = existsSync(`${directory}/dev/real_mcp.json`)
    ? readQueries(directory, "real_mcp").queries
    : namesAsQueries(own);
  const points: SizePoint[] = [];
  const sizes = new Set(catalogSizes.map((size) => Math.min(size, pool.length)));
  for (const size of sizes) points.push(await pointAt(pool.slice(0, size), queries));
  return points;
}

/** Without the questions, names have to do: enough for speed and memory. */
function namesAsQueries(tools: readonly CorpusTool[]): DevQuery[] {
  return tools.map(({ id, name }) => ({ id, query: name, relevant: [id] }));
}

async function pointAt(tools: readonly CorpusTool[], queries: readonly DevQuery[]): Promise<SizePoint> {
  const parts = toParts(tools);
  const answerable = restrict(queries, new Set(tools.map((tool) => tool.id)));
  const texts = queries.map(({ query }) => query);
  return {
    tools: tools.length,
    servers: parts.length,
    lexical: await measure(answerable, askEngine(lexicalEngine(), parts), { rounds: 5 }),
    miniSearch: await measure(answerable, askMiniSearch(parts)),
    ...buildCost(tools),
    discover: await discoverCost(texts, parts),
    discoverLong: await discoverCost(longQueries(texts), parts),
  };
}

function buildCost(tools: readonly CorpusTool[]): Pick<SizePoint, "buildMs" | "updateMs" | "bytesPerTool"> {
  const sources = toParts(tools);
  const runs = [0, 1, 2, 3, 4].map(() => {
    const language = createLanguage();
    const before = usedBytes();
    const start = performance.now();
    const parts = sources.map((source) => buildIndexPart(source, language, { phrasesOf }));
    const index = mergeParts(parts, language);
    const buildMs = performance.now() - start;
    const bytes = usedBytes() - before;
    const changed = sources.find((source) => source.tools.length >= 25) ?? sources[0];
    const updateStart = performance.now();
    if (changed !== undefined)
      mergeParts([...index.parts.slice(1), buildIndexPart(changed, language, { phrasesOf })], language);
    return { buildMs, updateMs: performance.now() - updateStart, bytesPerTool: bytes / tools.length };
  });
  const least = (value: (run: (typeof runs)[number]) => number): number => Math.min(...runs.map(value));
  return {
    buildMs: least((run) => run.buildMs),
    updateMs: least((run) => run.updateMs),
    bytesPerTool: Math.max(...runs.map((run) => run.bytesPerTool)),
  };
}

/** Heap and typed arrays in use, after a collection. Includes the language's memory of stems. */
function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Whole servers in an order that is always the same and has nothing to do with their names. */
function shuffleServers(tools: readonly CorpusTool[]): CorpusTool[] {
  const servers = [...new Set(tools.map((tool) => tool.server))].sort(
    (a, b) => ((a.length * 7919) % 101) - ((b.length * 7919) % 101) || (a < b ? -1 : 1),
  );
  return servers.flatMap((server) => tools.filter((tool) => tool.server === server));
}

/** The queries that these tools can answer, with the tools that can. */
function restrict(queries: readonly DevQuery[], present: ReadonlySet<string>): DevQuery[] {
  return queries
    .map((query) => ({
      ...query,
      groups: (query.groups ?? query.relevant.map((id) => [id])).map((need) => need.filter((id) => present.has(id))),
    }))
    .filter((query) => query.groups.every((need) => need.length > 0));
}
