import type { View, ViewServer } from "../../catalog/model/view.ts";
import { abortAfter } from "../../kernel/abort.ts";
import type { Discovery, DiscoveryOutcome } from "../../catalog/discovery/discovery.ts";
import { renderDiscover } from "../../catalog/exposure/discover-answer.ts";
import { renderServers } from "../../catalog/exposure/discover-servers.ts";
import { unavailableLine, type Unavailable } from "../../catalog/exposure/discover-unavailable.ts";
import type { DiscoverRequest } from "../../catalog/exposure/intent.ts";
import { chooseServers } from "../../catalog/exposure/resource-list.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";

export interface DiscoverDeps {
  readonly viewOf: (principal: Principal) => View;
  readonly discovery: Discovery;
  /** Waits until servers never seen before have come up, or the signal aborts. */
  readonly settled: (principal: Principal, signal: AbortSignal) => Promise<void>;
  readonly maxTokens: number;
}

/** A first search waits this long for servers never seen before (docs/design.md, "Starting"). */
const firstSearchWaitMs = 2_000;

/** Executes discover_mcp_tools: the text of its answer. */
export async function discoverTools(
  deps: DiscoverDeps,
  principal: Principal,
  request: DiscoverRequest,
  signal: AbortSignal,
): Promise<string> {
  if (deps.viewOf(principal).servers.some(isUnseen))
    await deps.settled(principal, abortAfter(firstSearchWaitMs, signal));
  const view = deps.viewOf(principal);
  const servers = chooseServers(view, request.server);
  if (request.queries.length === 1 && request.queries[0]?.trim() === "") return listServers(servers, deps.maxTokens);
  const [only] = servers;
  const outcome = await searchSafely(
    deps,
    view,
    { ...request, server: request.server === undefined ? undefined : only?.slug },
    signal,
  );
  const unavailable = await unavailableAmong(deps, view, { servers, request, outcome }, signal);
  return renderOutcome(view, request, { ...outcome, ...unavailable }, deps.maxTokens);
}

interface UnavailableServers {
  readonly unavailable: readonly Unavailable[];
  /** Servers that cannot be used either, but have nothing to do with the question as far as is known. */
  readonly unavailableOthers: number;
}

/** Named at most when nothing was found and nobody knows what they offer. */
const unknownLimit = 3;

/**
 * Told by name: a server that was asked for by name, those that the question may be about, and, when nothing at all
 * was found, some whose tools nobody has seen: they might have them.
 */
async function unavailableAmong(
  deps: DiscoverDeps,
  view: View,
  { servers, request, outcome }: { servers: readonly ViewServer[]; request: DiscoverRequest; outcome: SafeOutcome },
  signal: AbortSignal,
): Promise<UnavailableServers> {
  const isNamed = request.server !== undefined;
  const missed = servers.filter((server) => unavailableOf(server, isNamed) !== undefined);
  if (isNamed || missed.length === 0) return { unavailable: missed.map(toUnavailable), unavailableOthers: 0 };
  const meant = await deps.discovery.meant(view, missed, request.queries, signal);
  const nothingFound = outcome.failed === undefined && outcome.needs.every((need) => need.hits.length === 0);
  const others = missed.filter((server) => !meant.has(server.slug));
  const unknown =
    nothingFound && meant.size === 0 ? others.filter((server) => server.part === undefined).slice(0, unknownLimit) : [];
  const told = missed.filter((server) => meant.has(server.slug) || unknown.includes(server));
  return { unavailable: told.map(toUnavailable), unavailableOthers: missed.length - told.length };
}

type SafeOutcome = DiscoveryOutcome & { readonly failed: string | undefined };

/** A failed search is one of the honest answers, not an error: the model learns that it was the search. */
async function searchSafely(
  deps: DiscoverDeps,
  view: View,
  request: DiscoverRequest,
  signal: AbortSignal,
): Promise<SafeOutcome> {
  try {
    return { ...(await deps.discovery.search(view, request, signal)), failed: undefined };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "SEARCH_FAILED") throw error;
    return {
      needs: request.queries.map((query) => ({ query, hits: [], totalFound: 0, match: undefined })),
      searchTimeMs: 0,
      queryCut: false,
      degraded: "search",
      failed: error.message,
    };
  }
}

function renderOutcome(
  view: View,
  request: DiscoverRequest,
  outcome: SafeOutcome & UnavailableServers,
  maxTokens: number,
): string {
  const bySlug = new Map(view.servers.map((server) => [server.slug as string, server]));
  const failed =
    outcome.failed === undefined
      ? []
      : [unavailableLine({ server: "*", status: "search_failed", reason: outcome.failed })];
  return renderDiscover({
    needs: outcome.needs.map((need) => ({
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
          },
        ];
      }),
    })),
    grouped: request.grouped,
    detail: request.detail,
    totalFound: outcome.needs.reduce((sum, need) => sum + need.totalFound, 0),
    searchTimeMs: outcome.searchTimeMs,
    maxTokens,
    queryCut: outcome.queryCut,
    ...(outcome.degraded === undefined ? {} : { degraded: outcome.degraded }),
    unavailable: [...failed, ...outcome.unavailable],
    unavailableOthers: outcome.unavailableOthers,
  });
}

function listServers(servers: readonly ViewServer[], maxTokens: number): string {
  const startedMs = performance.now();
  return renderServers({
    servers: servers.map((server) => {
      const unavailable = unavailableOf(server, true);
      const about = server.part?.instructions ?? server.category;
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
  });
}

/** A server whose tools a search cannot offer now. One that is switched off on purpose is told only to those who named it. */
function unavailableOf(server: ViewServer, isNamed: boolean): Unavailable | undefined {
  if (server.status === "disabled")
    return isNamed || server.reason === "stopped by hand" ? toUnavailable(server) : undefined;
  return !server.shown || isUnseen(server) ? toUnavailable(server) : undefined;
}

function toUnavailable(server: ViewServer): Unavailable {
  return unavailableLine({
    server: server.slug,
    status: server.status,
    // "starting" is no reason; why it is started again is one.
    ...(isUnseen(server) && server.status !== "restarting" ? {} : { reason: server.reason }),
  });
}

function isUnseen(server: ViewServer): boolean {
  return server.part === undefined && server.shown;
}
