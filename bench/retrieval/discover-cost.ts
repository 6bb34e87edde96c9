import { renderDiscover } from "../../src/catalog/exposure/discover/discover-answer.ts";
import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import { searchLexical } from "./engines.ts";

/** What one discover costs, search and answer together, when the same catalog has been asked before. */
export interface DiscoverCost {
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Rounds before the one that is measured: the first one prints every answer's tools. */
const warmRounds = 3;
const longWords = 30;

/** Asks and prints every query; CPU counts all of the process, so it is meant for a process that does nothing else. */
export async function discoverCost(
  queries: readonly string[],
  parts: readonly InstanceCatalog[],
): Promise<DiscoverCost> {
  const search = searchLexical(parts);
  const byServer = new Map(parts.map((part) => [part.server as string, part]));
  const discover = async (query: string): Promise<string> => {
    const { tools, total, match } = await search(query);
    const hits = tools.map(({ tool, distance }) => ({
      tool,
      distance,
      serverTitle: byServer.get(tool.server)?.serverTitle ?? tool.server,
      transport: "stdio" as const,
    }));
    return renderDiscover({
      needs: [{ query, hits, match }],
      grouped: false,
      detail: "signature",
      totalFound: total,
      searchTimeMs: 1,
      toolsOf: (server) => byServer.get(server)?.tools ?? [],
    });
  };
  for (let round = 0; round < warmRounds; round += 1) for (const query of queries) await discover(query);
  const times: number[] = [];
  const before = process.cpuUsage();
  for (const query of queries) {
    const start = performance.now();
    await discover(query);
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return { cpuUs: (user + system) / queries.length, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** Questions of thirty words, made of others. */
export function longQueries(queries: readonly string[]): string[] {
  return queries.map((query, at) =>
    [query, ...queries.slice(at + 1), ...queries].join(" ").split(/\s+/).slice(0, longWords).join(" "),
  );
}
