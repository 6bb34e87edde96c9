import type { Match } from "../search/rank/confidence.ts";
import type { Explanation } from "../search/explain/explanation.ts";
import type { PhrasesOf } from "../search/language/phrase-book.ts";
import type { ToolEntry, InstanceCatalog } from "../model/snapshot.ts";
import type { PhraseSource } from "../search/language/phrase-book.ts";
import type { View, ViewServer } from "../model/view.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { ServerSlug } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { readQuery, type ExplainedAnswer, type RankedBy, type SearchEngine, type SearchRequest } from "./engine.ts";
import type { Enrichment, EnrichmentState } from "./phrases/enrichment.ts";
import type { FindMeant } from "./server-intent.ts";
import type { FindSkills, FoundSkill } from "./skill-search.ts";
import type { UseMemory } from "./memory-of-use.ts";

/** What a search is asked. How its answer is worded is decided in `exposure/`. */
export interface DiscoveryRequest {
  readonly queries: readonly string[];
  readonly limit: number;
  readonly server: string | undefined;
  /** Which tools are looked for at all; undefined for every one. */
  readonly wants?: ((tool: ToolEntry) => boolean) | undefined;
  /** Which client asks ({@link askerOf}); its calls say which tools it looked for. */
  readonly client?: string | undefined;
  /** A person's trial, which says nothing about what tools are for: nothing is learned from it. */
  readonly isTrial?: boolean | undefined;
  /** Also says why each tool was found, where the engine can. */
  readonly explain?: boolean | undefined;
  /** Leaves out what embeddings say, or all but that. */
  readonly only?: RankedBy | undefined;
}

/** A tool that a search found. */
export interface DiscoveredHit {
  readonly tool: ToolEntry;
  readonly distance: number;
  /** Higher is better; comparable within one answer only. */
  readonly score: number;
  readonly explanation?: Explanation | undefined;
}

export interface DiscoveredNeed {
  readonly query: string;
  readonly hits: readonly DiscoveredHit[];
  readonly totalFound: number;
  /** Undefined when the search failed, because then it is unknown whether anything fits. */
  readonly match: Match | undefined;
}

export interface DiscoveryResult {
  /** The engine that answered. */
  readonly engine: SearchEngine["name"];
  /** Whether the meaning of words counts; `left-out` where the request wanted that. */
  readonly meaning: "used" | "left-out" | "none";
  readonly needs: readonly DiscoveredNeed[];
  /** Skills that may help with any of the needs, best first. */
  readonly skills: readonly FoundSkill[];
  readonly searchTimeMs: number;
  readonly queryCut: boolean;
  readonly degraded: string | undefined;
}

/** Executes searches over a principal's view; remembers what was used. */
export interface Discovery extends AsyncDisposable {
  /** Rejects with QUERY_INVALID or SEARCH_FAILED, or the signal's reason. */
  search(view: View, request: DiscoveryRequest, signal: AbortSignal): Promise<DiscoveryResult>;
  /**
   * The tools of a server that a search may find. Leaves out those that only an app's own page may call (MCP Apps,
   * visibility).
   */
  toolsOf(server: ViewServer): readonly ToolEntry[];
  /**
   * Slugs of the given servers that these queries may be about. For servers that the search itself does not cover,
   * because they cannot be used now.
   */
  meant(
    view: View,
    servers: readonly ViewServer[],
    queries: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>>;
  /**
   * To be told of a call that succeeded and that a client ({@link askerOf}) made for its own purposes: the words with
   * which its tool was found are learned. Calls that failed, were cancelled, or were a person's trial are not reported
   * here, because they say nothing about what the tool is for.
   */
  noteCall(principal: Principal, tool: ToolEntry, client: string): void;
  /**
   * Does in advance what the next search of this view would have to do. Does nothing before the first search, so that a
   * gateway without searches loads nothing.
   */
  prepare(view: View, signal: AbortSignal): Promise<void>;
  /** What people say when they need a tool, as far as it is known. Loads what searches need. */
  phrasesOf(tool: ToolEntry): Promise<readonly string[]>;
  /** Loads what searches need, and says who wrote the phrases of a tool; undefined for one without. */
  phraseSource(): Promise<DiscoveryDeps["phraseSource"]>;
  /** How far the model is that writes phrases; undefined without one, and before anything was loaded. */
  enrichment(): EnrichmentState | undefined;
}

/** What searches need. Loaded with the first search. */
export interface DiscoveryDeps {
  readonly engine: SearchEngine;
  readonly memory: UseMemory | undefined;
  readonly enrichment: Enrichment | undefined;
  readonly findMeant: FindMeant;
  readonly findSkills: FindSkills;
  readonly phrasesOf: PhrasesOf;
  readonly phraseSource: (tool: ToolEntry) => PhraseSource | undefined;
  /** Writes all pending changes and ends the background work. */
  close(): Promise<void>;
}

/** A discovery that calls `load` at the first search. A failed load is tried again at the next one. */
export function createDiscovery(load: () => Promise<DiscoveryDeps>): Discovery {
  let loading: Promise<DiscoveryDeps> | undefined;
  let loaded: DiscoveryDeps | undefined;
  /** Somebody who looks at what things cost loads the parts, too, and needs no index. */
  let isSearched = false;
  const searched = new WeakMap<View, Searched>();

  /** Made once for each view: a search then looks nothing up but its words. */
  function searchedOf(view: View): Searched {
    let known = searched.get(view);
    if (known === undefined) searched.set(view, (known = readSearched(view, toolsForModels)));
    return known;
  }

  async function parts(): Promise<DiscoveryDeps> {
    // What cannot be loaded now may be there at the next search.
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return (loaded = await loading);
  }

  return {
    async search(view, request, signal) {
      const { engine, memory, findSkills } = await parts();
      isSearched = true;
      const startedMs = performance.now();
      const { parts: searchedParts, allow: maySee, hasSkills } = searchedOf(view);
      const allow = both(maySee, request.wants);
      const principal = view.principal.id;
      const server = request.server as ServerSlug | undefined;
      const filters = { ...(server === undefined ? {} : { server }), ...(allow === undefined ? {} : { allow }) };
      const { only } = request;
      const wanted = only === undefined ? filters : { ...filters, only };
      const asking = { principal, parts: searchedParts, limit: request.limit, ...wanted };
      let queryCut = false;
      let degraded: string | undefined;
      const needs: DiscoveredNeed[] = [];
      for (const given of request.queries) {
        const { query, cut } = readQuery(given);
        queryCut ||= cut;
        const answer = await ask(engine, request, { ...asking, query }, signal);
        degraded ??= answer.degraded;
        const offered = answer.tools.map((hit) => hit.tool);
        if (request.isTrial !== true) memory?.offered(principal, query, offered, request.client);
        needs.push({ query, hits: answer.tools, totalFound: answer.total, match: answer.match });
      }
      const asked = { principal, parts: searchedParts, queries: request.queries, server };
      const skills = hasSkills ? await findSkills(asked, signal) : [];
      const meaning = !engine.hasMeaning ? "none" : only === "words" ? "left-out" : "used";
      return {
        engine: engine.name,
        meaning,
        needs,
        skills,
        searchTimeMs: performance.now() - startedMs,
        queryCut,
        degraded,
      };
    },
    toolsOf: toolsForModels,
    async meant(view, servers, queries, signal) {
      const { findMeant } = await parts();
      const seen = new Set(servers.flatMap(toolsForModels));
      const { id: principal } = view.principal;
      return await findMeant({ principal, servers, queries, allow: (tool) => seen.has(tool) }, signal);
    },
    phrasesOf: async (tool) => (await parts()).phrasesOf(tool),
    phraseSource: async () => (await parts()).phraseSource,
    enrichment: () => loaded?.enrichment?.state(),
    noteCall: (principal, tool, client) => loaded?.memory?.executed(principal.id, tool, client),
    async prepare(view, signal) {
      if (loaded === undefined || !isSearched) return;
      await loaded.engine.prepare(searchedOf(view).parts, signal);
    },
    async [Symbol.asyncDispose]() {
      await (await loading?.catch(() => undefined))?.close();
    },
  };
}

type Chooses = (tool: ToolEntry) => boolean;

function both(one: Chooses | undefined, other: Chooses | undefined): Chooses | undefined {
  return one === undefined || other === undefined ? (one ?? other) : (tool) => one(tool) && other(tool);
}

const forModels = new WeakMap<ViewServer, readonly ToolEntry[]>();

function toolsForModels(server: ViewServer): readonly ToolEntry[] {
  let tools = forModels.get(server);
  if (tools === undefined) forModels.set(server, (tools = server.tools.filter(isForModels)));
  return tools;
}

/** With reasons where they are asked for and the engine has them. */
function ask(
  engine: SearchEngine,
  { explain }: DiscoveryRequest,
  asked: SearchRequest,
  signal: AbortSignal,
): Promise<ExplainedAnswer> {
  return explain === true && engine.explain !== undefined
    ? engine.explain(asked, signal)
    : engine.search(asked, signal);
}

function isForModels({ definition }: ToolEntry): boolean {
  const ui = isJsonObject(definition._meta) ? definition._meta["ui"] : undefined;
  const visibility = isJsonObject(ui) ? ui["visibility"] : undefined;
  return !Array.isArray(visibility) || visibility.includes("model");
}

/** What a search of a view looks at. */
interface Searched {
  readonly parts: readonly InstanceCatalog[];
  /** Undefined where every tool may be found. */
  readonly allow: ((tool: ToolEntry) => boolean) | undefined;
  readonly hasSkills: boolean;
}

function readSearched(view: View, toolsOf: (server: ViewServer) => readonly ToolEntry[]): Searched {
  const parts = view.servers.flatMap((server) =>
    server.shown && server.catalog !== undefined ? [server.catalog] : [],
  );
  const partial = view.servers.filter((server) => toolsOf(server).length !== server.catalog?.tools.length);
  const allowed = new Set(partial.flatMap(toolsOf));
  const restricted = new Set<string>(partial.map((server) => server.slug));
  const allow = (tool: ToolEntry): boolean => !restricted.has(tool.server) || allowed.has(tool);
  const hasSkills = parts.some(({ skills }) => skills.length > 0);
  return { parts, allow: restricted.size === 0 ? undefined : allow, hasSkills };
}
