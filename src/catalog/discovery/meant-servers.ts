import { confidenceWeights } from "../search/confidence-weights.ts";
import type { InstanceCatalog, ToolEntry } from "../model/snapshot.ts";
import type { ViewServer } from "../model/view.ts";
import type { InstanceId, PrincipalId, ToolPath } from "../../kernel/ids.ts";
import { readQuery, type SearchEngine } from "./engine.ts";

/** Tools of a query that are looked at: so many servers at most may be meant by it. */
const toolLimit = 50;
/** Servers without known tools whose stand-ins are kept: as many as a large installation has. */
const standInLimit = 1_000;

export interface MeantRequest {
  readonly principal: PrincipalId;
  /** Servers that cannot be used now. */
  readonly servers: readonly ViewServer[];
  readonly queries: readonly string[];
  readonly allow: (tool: ToolEntry) => boolean;
}

/** Which servers a question may be about, by the tools that they had, their names and what they say of themselves. */
export type FindMeant = (request: MeantRequest, signal: AbortSignal) => Promise<ReadonlySet<string>>;

/** `engine` has to be one of its own, that learns nothing: what cannot be used must not change what is found. */
export function createFindMeant(engine: SearchEngine): FindMeant {
  const standIns = new Map<InstanceId, { readonly key: string; readonly part: InstanceCatalog }>();

  function partOf(server: ViewServer): InstanceCatalog {
    if (server.part !== undefined && server.part.tools.length > 0) return server.part;
    const about = `${server.title} ${server.category ?? ""} ${server.part?.instructions ?? ""}`;
    const key = `${server.slug} ${about}`;
    const known = standIns.get(server.instance);
    if (known?.key === key) return known.part;
    const part = toStandIn(server, about);
    standIns.delete(server.instance);
    standIns.set(server.instance, { key, part });
    if (standIns.size > standInLimit) standIns.delete(standIns.keys().next().value as InstanceId);
    return part;
  }

  return async ({ principal, servers, queries, allow }, signal) => {
    const parts = servers.map(partOf);
    const own = new Set(parts.flatMap((part, at) => (part === servers[at]?.part ? [] : part.tools)));
    const meant = new Set<string>();
    for (const given of queries) {
      const { query } = readQuery(given);
      const { tools } = await engine.search(
        { principal, parts, query, limit: toolLimit, allow: (tool) => own.has(tool) || allow(tool) },
        signal,
      );
      for (const { tool, distance } of tools) if (1 - distance >= confidenceWeights.weakFrom) meant.add(tool.server);
    }
    return meant;
  };
}

/** A server whose tools nobody has seen, as one tool that is called like it. */
function toStandIn(server: ViewServer, about: string): InstanceCatalog {
  const { instance, slug, title, transport } = server;
  const tool: ToolEntry = {
    instance,
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
    ttlMs: undefined,
    cacheScope: "private",
  };
}
