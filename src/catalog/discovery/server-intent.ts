import { confidenceWeights } from "../search/rank/confidence.ts";
import type { InstanceCatalog, ToolEntry } from "../model/snapshot.ts";
import type { ViewServer } from "../model/view.ts";
import type { PrincipalId, ToolPath } from "../../kernel/ids.ts";
import { readQuery, type SearchEngine } from "./engine.ts";

/** Tools examined per query, and therefore the most servers that one query can be about. */
const toolLimit = 50;
/** Stand-ins that are kept for servers without known tools: as many as a large installation has servers. */
const standInLimit = 1_000;

export interface MeantRequest {
  readonly principal: PrincipalId;
  /** Servers that cannot be used now. */
  readonly servers: readonly ViewServer[];
  readonly queries: readonly string[];
  readonly allow: (tool: ToolEntry) => boolean;
}

/** Finds the servers that a question may be about, by the tools they had, their names, and their own descriptions. */
export type FindMeant = (request: MeantRequest, signal: AbortSignal) => Promise<ReadonlySet<string>>;

/**
 * `engine` must be a separate one that learns nothing: servers that cannot be used must not influence what searches
 * find.
 */
export function createFindMeant(engine: SearchEngine): FindMeant {
  // By content: every principal finds the same part in the same index.
  const standIns = new Map<string, InstanceCatalog>();

  function catalogOf(server: ViewServer): InstanceCatalog {
    if (server.catalog !== undefined && server.catalog.tools.length > 0) return server.catalog;
    const about = `${server.title} ${server.category ?? ""} ${server.catalog?.instructions ?? ""}`;
    const key = `${server.slug} ${server.title} ${about}`;
    const known = standIns.get(key);
    if (known !== undefined) return known;
    const part = toStandIn(server, about);
    standIns.set(key, part);
    if (standIns.size > standInLimit) standIns.delete(standIns.keys().next().value as string);
    return part;
  }

  return async ({ principal, servers, queries, allow }, signal) => {
    const catalogs = servers.map(catalogOf);
    const own = new Set(catalogs.flatMap((catalog, at) => (catalog === servers[at]?.catalog ? [] : catalog.tools)));
    const meant = new Set<string>();
    for (const given of queries) {
      const { query } = readQuery(given);
      const { tools } = await engine.search(
        { principal, parts: catalogs, query, limit: toolLimit, allow: (tool) => own.has(tool) || allow(tool) },
        signal,
      );
      for (const { tool, distance } of tools) if (1 - distance >= confidenceWeights.weakFrom) meant.add(tool.server);
    }
    return meant;
  };
}

/** Represents a server whose tools are still unknown by a single tool named after it. */
function toStandIn(server: ViewServer, about: string): InstanceCatalog {
  const { instance, slug, title, transport } = server;
  const tool: ToolEntry = {
    server: slug,
    upstreamName: slug,
    path: `${slug}:${slug}` as ToolPath,
    definition: { name: slug, description: about, inputSchema: { type: "object" } },
    hash: "",
  };
  return {
    instance,
    server: slug,
    serverTitle: title,
    transport,
    serverInfo: { name: slug },
    instructions: undefined,
    capabilities: {},
    eras: [],
    tools: [tool],
    resources: [],
    templates: [],
    prompts: [],
    skills: [],
    ttlMs: undefined,
    cacheScope: "private",
  };
}
