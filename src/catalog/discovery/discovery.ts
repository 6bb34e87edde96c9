import type { Match } from "../search/confidence-weights.ts";
import type { ToolEntry, InstanceCatalog } from "../model/snapshot.ts";
import type { View, ViewServer } from "../model/view.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import type { ServerSlug } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { readQuery, type SearchEngine } from "./engine.ts";
import type { FindMeant } from "./meant-servers.ts";
import type { UseMemory } from "./memory-of-use.ts";

/** What a search is asked. How its answer reads is the business of `exposure/`. */
export interface DiscoveryRequest {
  readonly queries: readonly string[];
  readonly limit: number;
  readonly server: string | undefined;
  readonly readOnly: boolean;
}

export interface DiscoveredNeed {
  readonly query: string;
  readonly hits: readonly { readonly tool: ToolEntry; readonly distance: number }[];
  readonly totalFound: number;
  /** Undefined when the search failed: then nobody knows. */
  readonly match: Match | undefined;
}

export interface DiscoveryOutcome {
  /** What searched. */
  readonly engine: SearchEngine["name"];
  readonly needs: readonly DiscoveredNeed[];
  readonly searchTimeMs: number;
  readonly queryCut: boolean;
  readonly degraded: string | undefined;
}

/** Executes searches over a principal's view; remembers what was used. */
export interface Discovery extends AsyncDisposable {
  /** Rejects with QUERY_INVALID or SEARCH_FAILED, or the signal's reason. */
  search(view: View, request: DiscoveryRequest, signal: AbortSignal): Promise<DiscoveryOutcome>;
  /** What a search may find of a server: not what only an app's own page may call (MCP Apps, visibility). */
  toolsOf(server: ViewServer): readonly ToolEntry[];
  /** Slugs of those of a view's servers that these queries may be about: for servers that a search does not cover. */
  meant(
    view: View,
    servers: readonly ViewServer[],
    queries: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>>;
  /**
   * A call has worked, and a client made it for its own ends: what its tool was found with is learned. Not to be told
   * of calls that failed, were cancelled, or were a person's trial: those say nothing about what the tool is for.
   */
  noteCall(principal: Principal, tool: ToolEntry): void;
  /**
   * Does off the call path what the next search of this view would have to do; nothing until there has been a first
   * one.
   */
  prepare(view: View, signal: AbortSignal): Promise<void>;
}

/** What searches need; loaded when the first one comes. */
export interface DiscoveryParts {
  readonly engine: SearchEngine;
  readonly memory: UseMemory | undefined;
  readonly findMeant: FindMeant;
  /** Writes what is still to be written, and ends what runs in the background. */
  close(): Promise<void>;
}

export function createDiscovery(load: () => Promise<DiscoveryParts>): Discovery {
  let loading: Promise<DiscoveryParts> | undefined;
  let loaded: DiscoveryParts | undefined;
  const forModels = new WeakMap<ViewServer, readonly ToolEntry[]>();

  function toolsForModels(server: ViewServer): readonly ToolEntry[] {
    let tools = forModels.get(server);
    if (tools === undefined) forModels.set(server, (tools = server.tools.filter(isForModels)));
    return tools;
  }

  async function parts(): Promise<DiscoveryParts> {
    // What cannot be loaded now may be there at the next search.
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    loaded = await loading;
    return loaded;
  }

  return {
    async search(view, request, signal) {
      const { engine, memory } = await parts();
      const startedMs = performance.now();
      const partial = view.servers.filter((server) => toolsForModels(server).length !== server.part?.tools.length);
      const allowed = new Set(partial.flatMap(toolsForModels));
      const restricted = new Set(partial.map((server) => server.instance as string));
      let queryCut = false;
      let degraded: string | undefined;
      const needs: DiscoveredNeed[] = [];
      for (const given of request.queries) {
        const { query, cut } = readQuery(given);
        queryCut ||= cut;
        const answer = await engine.search(
          {
            principal: view.principal.id,
            parts: searchedParts(view),
            query,
            limit: request.limit,
            ...(request.server === undefined ? {} : { server: request.server as ServerSlug }),
            ...(request.readOnly ? { readOnly: true } : {}),
            ...(restricted.size === 0
              ? {}
              : { allow: (tool: ToolEntry) => !restricted.has(tool.instance) || allowed.has(tool) }),
          },
          signal,
        );
        degraded ??= answer.degraded;
        memory?.offered(
          view.principal.id,
          query,
          answer.tools.map((hit) => hit.tool),
        );
        needs.push({ query, hits: answer.tools, totalFound: answer.total, match: answer.match });
      }
      return { engine: engine.name, needs, searchTimeMs: performance.now() - startedMs, queryCut, degraded };
    },
    toolsOf: toolsForModels,
    async meant(view, servers, queries, signal) {
      const { findMeant } = await parts();
      const seen = new Set(servers.flatMap(toolsForModels));
      const principal = view.principal.id;
      return await findMeant({ principal, servers, queries, allow: (tool) => seen.has(tool) }, signal);
    },
    noteCall: (principal, tool) => loaded?.memory?.executed(principal.id, tool),
    async prepare(view, signal) {
      if (loaded === undefined) return;
      await loaded.engine.prepare(searchedParts(view), signal);
    },
    async [Symbol.asyncDispose]() {
      const held = await loading?.catch(() => undefined);
      await held?.close();
    },
  };
}

function isForModels({ definition }: ToolEntry): boolean {
  const ui = isJsonObject(definition._meta) ? definition._meta["ui"] : undefined;
  const visibility = isJsonObject(ui) ? ui["visibility"] : undefined;
  return !Array.isArray(visibility) || visibility.includes("model");
}

function searchedParts(view: View): readonly InstanceCatalog[] {
  return view.servers.flatMap((server) => (server.shown && server.part !== undefined ? [server.part] : []));
}
