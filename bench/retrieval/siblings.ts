import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

import { renderDiscover } from "../../src/catalog/exposure/discover/discover-answer.ts";
import type { InstanceCatalog } from "../../src/catalog/model/snapshot.ts";
import type { DevQuery } from "./data.ts";
import { searchLexical } from "./engines.ts";

/** What an agent gets to see of the tools that its tasks need, over all of its own queries to a task. */
export interface Seen {
  readonly needs: number;
  /** Share of the needs with a tool among the results, in %. */
  readonly results: number;
  /** The same, with the tools that `more` names. */
  readonly withSiblings: number;
  /** What `more` costs per answer, in o200k tokens. */
  readonly tokens: { readonly mean: number; readonly most: number };
}

/** An agent's own queries, by task; the needs are the task's where `tasks` has them, else what its queries were for. */
export async function seenByAgent(
  queries: readonly DevQuery[],
  tasks: readonly DevQuery[],
  parts: readonly InstanceCatalog[],
): Promise<Seen> {
  const answer = answerer(parts);
  const needsOf = new Map(tasks.map((task) => [task.id.slice(task.id.indexOf(":") + 1), toNeeds(task)]));
  const byTask = new Map<string, DevQuery[]>();
  for (const query of queries)
    byTask.set(query.task ?? query.id, [...(byTask.get(query.task ?? query.id) ?? []), query]);
  const costs: number[] = [];
  const met = { needs: 0, results: 0, withSiblings: 0 };
  for (const [task, asked] of byTask) {
    const results = new Set<string>();
    const named = new Set<string>();
    for (const { query } of asked) {
      const [plain, full] = await Promise.all([answer(query, false), answer(query, true)]);
      costs.push(countTokens(full) - countTokens(plain));
      for (const path of pathsIn(plain)) results.add(path);
      for (const path of pathsIn(full)) named.add(path);
    }
    for (const need of needsOf.get(task) ?? asked.flatMap(toNeeds)) {
      met.needs += 1;
      if (need.some((id) => results.has(id))) met.results += 1;
      if (need.some((id) => named.has(id))) met.withSiblings += 1;
    }
  }
  const percent = (count: number): number => (100 * count) / met.needs;
  return {
    needs: met.needs,
    results: percent(met.results),
    withSiblings: percent(met.withSiblings),
    tokens: { mean: costs.reduce((sum, cost) => sum + cost, 0) / costs.length, most: Math.max(...costs) },
  };
}

function answerer(parts: readonly InstanceCatalog[]): (query: string, siblings: boolean) => Promise<string> {
  const search = searchLexical(parts);
  const byServer = new Map(parts.map((part) => [part.server as string, part.tools]));
  return async (query, siblings) => {
    const { tools, total, match } = await search(query);
    const hits = tools.map(({ tool, distance }) => ({
      tool,
      distance,
      serverTitle: tool.server,
      transport: "stdio" as const,
    }));
    return renderDiscover({
      needs: [{ query, hits, match }],
      grouped: false,
      detail: "signature",
      totalFound: total,
      searchTimeMs: 1.5,
      ...(siblings ? { toolsOf: (server: string) => byServer.get(server) ?? [] } : {}),
    });
  };
}

function pathsIn(answer: string): string[] {
  const { tools, more = {} } = JSON.parse(answer) as {
    tools: { tool_path: string }[];
    more?: Record<string, string[]>;
  };
  const siblings = Object.entries(more).flatMap(([server, names]) => names.map((name) => `${server}:${name}`));
  return [...tools.map((tool) => tool.tool_path), ...siblings];
}

function toNeeds(query: DevQuery): readonly (readonly string[])[] {
  return query.groups ?? query.relevant.map((id) => [id]);
}
