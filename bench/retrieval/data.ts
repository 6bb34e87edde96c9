import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { InstanceCatalog, ToolEntry } from "../../src/catalog/model/snapshot.ts";
import type { InstanceId, ServerSlug, ToolPath } from "../../src/kernel/ids.ts";
import type { JsonObject } from "../../src/kernel/text/json-bytes.ts";

export interface CorpusTool {
  readonly id: string;
  readonly server: string;
  readonly serverTitle?: string;
  readonly serverDescription?: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
}

export interface Corpus {
  readonly name: string;
  readonly tools: readonly CorpusTool[];
}

export interface DevQuery {
  readonly id: string;
  readonly query: string;
  readonly relevant: readonly string[];
  readonly groups?: readonly (readonly string[])[];
  /** The agent's task that the query belongs to. */
  readonly task?: string;
}

export interface QuerySet {
  readonly name: string;
  readonly corpus: string;
  readonly queries: readonly DevQuery[];
}

export const setNames = [
  "real_mcp",
  "live_agent",
  "live_step",
  "metatool",
  "bfcl",
  "sealtools",
  "live_task",
  "real_mcp_multi",
  "metatool_multi",
  "sealtools_multi",
] as const;
export const corpusNames = ["real_mcp", "live", "metatool", "bfcl", "sealtools"] as const;

export function readCorpus(directory: string, name: string): Corpus {
  return JSON.parse(readFileSync(join(directory, "corpus", `${name}.json`), "utf8")) as Corpus;
}

export function readQueries(directory: string, name: string): QuerySet {
  return {
    ...(JSON.parse(readFileSync(join(directory, "dev", `${name}.json`), "utf8")) as Omit<QuerySet, "name">),
    name,
  };
}

/** The half that a query always falls into: a gain in one half only is chance. An agent's task stays together. */
export function halfOf({ id, task }: Pick<DevQuery, "id" | "task">): 0 | 1 {
  const key = task ?? id;
  let sum = 0;
  for (let at = 0; at < key.length; at += 1) sum = (sum * 31 + key.charCodeAt(at)) % 1_000_003;
  return sum % 2 === 0 ? 0 : 1;
}

/**
 * A corpus as the gateway would hold it: one instance per server. The benchmark's tool id is kept as the tool's hash.
 */
export function toParts(tools: readonly CorpusTool[]): InstanceCatalog[] {
  const servers = new Map<string, CorpusTool[]>();
  for (const tool of tools) {
    const list = servers.get(tool.server);
    if (list === undefined) servers.set(tool.server, [tool]);
    else list.push(tool);
  }
  return [...servers].map(([server, list]) => toPart(server, list));
}

function toPart(server: string, tools: readonly CorpusTool[]): InstanceCatalog {
  const first = tools[0] as CorpusTool;
  return {
    instance: server as InstanceId,
    server: server as ServerSlug,
    serverTitle: first.serverTitle ?? server,
    transport: "stdio",
    serverInfo: { name: server },
    instructions: first.serverDescription,
    capabilities: {},
    eras: ["legacy"],
    tools: tools.map((tool) => toEntry(tool)),
    resources: [],
    templates: [],
    prompts: [],
    skills: [],
    ttlMs: undefined,
    cacheScope: "private",
  };
}

function toEntry(tool: CorpusTool): ToolEntry {
  const { name, title, description, inputSchema } = tool;
  return {
    server: tool.server as ServerSlug,
    upstreamName: name,
    path: `${tool.server}:${name}` as ToolPath,
    definition: {
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      inputSchema,
    },
    hash: tool.id,
  };
}
