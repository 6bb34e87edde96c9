import type { DiscoveryResult } from "../../discovery/discovery.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { View, ViewServer } from "../../model/view.ts";
import { renderDiscover } from "./discover-answer.ts";
import { renderServers, unavailableLine, type Unavailable } from "./discover-servers.ts";
import type { SkillHit } from "./discover-skills.ts";
import { toolsNamedBy } from "../skills/skill-tools.ts";
import type { ClientProfile } from "../../../config/rows/client-profiles.ts";
import type { DiscoverRequest } from "../intent.ts";

/** The result of a search, before it is worded for a client. */
export type Found =
  | {
      readonly kind: "found";
      readonly view: View;
      readonly request: DiscoverRequest;
      /** Undefined when the search failed; `failed` then says why. */
      readonly search: DiscoveryResult | undefined;
      readonly failed: string | undefined;
      readonly unavailable: readonly Unavailable[];
      /** How many other servers cannot be used, but as far as is known have nothing to do with the question. */
      readonly unavailableOthers: number;
      /** All tools of a server that a model may see. */
      readonly toolsOf: (server: ViewServer) => readonly ToolEntry[];
      /** Whether each call of a tool waits for a person's yes. */
      readonly asks: (server: ViewServer, tool: ToolEntry) => boolean;
      /** Whether a tool may be called as one that only reads. */
      readonly reads: (server: ViewServer, tool: ToolEntry) => boolean;
    }
  /** An empty query: the answer lists the servers that exist. */
  | { readonly kind: "servers"; readonly view: View; readonly servers: readonly ViewServer[] };

/**
 * The text of the answer of discover_mcp_tools: compact JSON that fits a budget.
 *
 * @param client the profile of the one that asked
 */
export function renderFound(found: Found, maxTokens: number, client?: Pick<ClientProfile, "splitExecute">): string {
  return found.kind === "servers"
    ? listServers(found, maxTokens)
    : renderTools(found, maxTokens, client?.splitExecute === true);
}

function renderTools(found: Extract<Found, { kind: "found" }>, maxTokens: number, marksReading: boolean): string {
  const { view, request, unavailableOthers } = found;
  const search = found.search ?? nothingSearched(request);
  const bySlug = new Map(view.servers.map((server) => [server.slug as string, server]));
  const failed =
    found.failed === undefined ? [] : [unavailableLine({ server: "*", status: "search_failed", reason: found.failed })];
  return renderDiscover({
    needs: search.needs.map((need) => ({
      query: need.query,
      match: need.match,
      hits: need.hits.flatMap(({ tool, distance }) => {
        const server = bySlug.get(tool.server);
        if (server === undefined) return [];
        return [
          {
            tool,
            serverTitle: server.title,
            transport: server.transport,
            distance,
            status: server.dormant ? ("dormant" as const) : server.status,
            asks: found.asks(server, tool),
            readOnly: marksReading && found.reads(server, tool),
          },
        ];
      }),
    })),
    grouped: request.grouped,
    skills: skillsOf(found, search, bySlug),
    detail: request.detail,
    totalFound: search.needs.reduce((sum, need) => sum + need.totalFound, 0),
    searchTimeMs: search.searchTimeMs,
    maxTokens,
    queryCut: search.queryCut,
    toolsOf(slug) {
      const server = bySlug.get(slug);
      const tools = server === undefined ? [] : found.toolsOf(server);
      return request.readOnly && server !== undefined ? tools.filter((tool) => found.reads(server, tool)) : tools;
    },
    ...(search.degraded === undefined ? {} : { degraded: search.degraded }),
    unavailable: [...failed, ...found.unavailable],
    unavailableOthers,
    outside: outsideText(view),
  });
}

/** Skills with the tools that they name, of those that a model may see and that the question allows. */
function skillsOf(
  { view, request, toolsOf, reads }: Extract<Found, { kind: "found" }>,
  { skills }: Pick<DiscoveryResult, "skills">,
  bySlug: ReadonlyMap<string, ViewServer>,
): readonly SkillHit[] {
  const isVisible = (tool: ToolEntry): boolean => {
    const owner = bySlug.get(tool.server);
    if (owner === undefined || !toolsOf(owner).includes(tool)) return false;
    return !request.readOnly || reads(owner, tool);
  };
  return skills.map(({ skill, distance }) => ({
    skill,
    serverTitle: bySlug.get(skill.server)?.title ?? skill.server,
    distance,
    tools: toolsNamedBy(skill, view, isVisible).map(({ path }) => path),
  }));
}

/** What a profile hides, of which a model learns how much there is, and nothing else. */
function outsideText({ narrowing, outside }: View): string | undefined {
  if (narrowing === undefined || outside === 0) return undefined;
  return `${outside} ${outside === 1 ? "tool is" : "tools are"} outside profile ${narrowing.name}`;
}

function nothingSearched({ queries }: DiscoverRequest): Omit<DiscoveryResult, "engine" | "meaning"> {
  return {
    needs: queries.map((query) => ({ query, hits: [], totalFound: 0, match: undefined })),
    skills: [],
    searchTimeMs: 0,
    queryCut: false,
    degraded: "search",
  };
}

function listServers({ view, servers }: Extract<Found, { kind: "servers" }>, maxTokens: number): string {
  const startedMs = performance.now();
  return renderServers({
    servers: servers.map((server) => {
      const unavailable = unavailableOf(server, true);
      const about = server.catalog?.instructions ?? server.category;
      return {
        server: server.slug,
        title: server.title,
        tools: server.tools.length,
        status: server.dormant ? ("dormant" as const) : server.status,
        ...(about === undefined ? {} : { about }),
        ...(unavailable === undefined ? {} : { unavailable }),
      };
    }),
    searchTimeMs: performance.now() - startedMs,
    maxTokens,
    outside: outsideText(view),
  });
}

/**
 * Describes a server whose tools a search cannot offer now. A server that is switched off on purpose is mentioned
 * only to those who named it.
 */
export function unavailableOf(server: ViewServer, isNamed: boolean): Unavailable | undefined {
  if (server.status === "disabled")
    return isNamed || server.reason === "stopped by hand" ? toUnavailable(server) : undefined;
  return !server.shown || isUnseen(server) ? toUnavailable(server) : undefined;
}

/** A server as the answers of the four tools list it under `unavailable`. */
export function toUnavailable(server: ViewServer): Unavailable {
  return unavailableLine({
    server: server.slug,
    status: server.status,
    advice: server.advice,
    // "starting" explains nothing, but the reason for a restart does.
    ...(isUnseen(server) && server.status !== "restarting" ? {} : { reason: server.reason }),
  });
}

/** A server of which tools wait for a person to look at them, in the same place. */
export function toHeld({ slug, held = [] }: ViewServer): Unavailable {
  const reason = `${held.length === 1 ? "1 tool" : `${held.length} tools`} of ${slug} ${held.length === 1 ? "is" : "are"} held for review.`;
  return unavailableLine({ server: slug, status: "held", reason });
}

/** Whether its tools were never seen, so that waiting for it may help. */
export function isUnseen(server: ViewServer): boolean {
  return server.catalog === undefined && server.shown;
}
