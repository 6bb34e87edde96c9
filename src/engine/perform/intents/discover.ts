import { firstWaitMs } from "../../../kernel/limits.ts";
import type { Discovery, DiscoveryRequest, DiscoveryResult } from "../../../catalog/discovery/discovery.ts";
import {
  isUnseen,
  toHeld,
  toUnavailable,
  unavailableOf,
  type Found,
} from "../../../catalog/exposure/discover/discover-text.ts";
import type { DiscoverRequest } from "../../../catalog/exposure/intent.ts";
import { chooseServers } from "../../../catalog/exposure/resource-list.ts";
import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import { askerOf } from "../../../kernel/client-presence.ts";
import { serverOf, type View, type ViewServer } from "../../../catalog/model/view.ts";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import { type CallContext, noteStarting } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { DecidingServer } from "../../policy/decide.ts";
import { judgeReadOnly } from "../../policy/read-only.ts";
import type { Principal } from "../../../kernel/principal.ts";

export interface DiscoverDeps {
  readonly viewOf: (principal: Principal) => View;
  readonly discovery: Pick<Discovery, "search" | "meant" | "toolsOf">;
  /** Whether each of the principal's calls of a tool of this instance waits for a yes. */
  readonly asks: (instance: InstanceId, tool: ToolEntry, principal: Principal) => boolean;
  readonly instanceOf: (id: InstanceId) => { readonly server: DecidingServer } | undefined;
  /** Resolves when servers that began to start within `patienceMs` have come up, or the signal aborts. */
  readonly settled: (principal: Principal, patienceMs: number, signal: AbortSignal) => Promise<void>;
}

/** Searches the tools that the principal may see. An empty query lists the servers instead. */
export async function discover(deps: DiscoverDeps, request: DiscoverRequest, context: CallContext): Promise<Found> {
  const { principal, signal, stage } = context;
  const unseen = deps.viewOf(principal).servers.filter(isUnseen);
  if (unseen.length > 0) {
    noteStarting(
      stage,
      unseen.map(({ slug }) => slug),
    );
    await deps.settled(principal, firstWaitMs, abortAfter(firstWaitMs, signal));
  }
  const view = deps.viewOf(principal);
  const servers = chooseServers(view, request.server);
  if (request.queries.length === 1 && request.queries[0]?.trim() === "") return { kind: "servers", view, servers };
  const [only] = servers;
  const reads = ({ instance }: ViewServer, tool: ToolEntry): boolean => {
    const rules = deps.instanceOf(instance)?.server;
    return rules !== undefined && judgeReadOnly(tool, rules).passes;
  };
  const wants = request.readOnly ? (tool: ToolEntry): boolean => reads(serverOf(view, tool), tool) : undefined;
  const server = request.server === undefined ? undefined : only?.slug;
  const attempt = await searchSafely(deps, view, { ...request, server, client: askerOf(context), wants }, signal);
  const asks = ({ instance }: ViewServer, tool: ToolEntry): boolean => deps.asks(instance, tool, principal);
  const unavailable = await unavailableAmong(deps, view, { servers, request, attempt }, signal);
  return { kind: "found", view, request, ...attempt, ...unavailable, toolsOf: deps.discovery.toolsOf, asks, reads };
}

type Unusable = Pick<Extract<Found, { kind: "found" }>, "unavailable" | "unavailableOthers">;

/** The most servers with unknown tools that are named when nothing was found. */
const unknownLimit = 3;

/**
 * The unavailable servers that the answer names, and those with tools that wait for a person: one that was
 * asked for by name, those that the question may be about and, when nothing was found, a few whose tools are still
 * unknown, because they might have a fitting one.
 */
async function unavailableAmong(
  deps: DiscoverDeps,
  view: View,
  { servers, request, attempt }: { servers: readonly ViewServer[]; request: DiscoverRequest; attempt: SearchAttempt },
  signal: AbortSignal,
): Promise<Unusable> {
  const isNamed = request.server !== undefined;
  const missed = servers.filter((server) => unavailableOf(server, isNamed) !== undefined);
  const held = servers.filter((server) => server.held !== undefined && !missed.includes(server));
  if (isNamed || missed.length + held.length === 0)
    return { unavailable: [...missed.map(toUnavailable), ...held.map(toHeld)], unavailableOthers: 0 };
  const meant = await deps.discovery.meant(view, [...missed, ...held], request.queries, signal);
  const found = new Set(attempt.search?.needs.flatMap(({ hits }) => hits.map(({ tool }) => tool.server)));
  const nothingFound = attempt.search?.needs.every((need) => need.hits.length === 0) === true;
  const others = missed.filter((server) => !meant.has(server.slug));
  const unknown =
    nothingFound && meant.size === 0
      ? others.filter((server) => server.catalog === undefined).slice(0, unknownLimit)
      : [];
  const told = missed.filter((server) => meant.has(server.slug) || unknown.includes(server));
  const toldOfHeld = held.filter(({ slug }) => meant.has(slug) || found.has(slug));
  return {
    unavailable: [...told.map(toUnavailable), ...toldOfHeld.map(toHeld)],
    unavailableOthers: missed.length - told.length,
  };
}

interface SearchAttempt {
  readonly search: DiscoveryResult | undefined;
  readonly failed: string | undefined;
}

/**
 * A failed search becomes an answer instead of an error, so that the model learns that it was the search that failed.
 */
async function searchSafely(
  { discovery }: DiscoverDeps,
  view: View,
  request: DiscoverRequest & Pick<DiscoveryRequest, "client" | "wants">,
  signal: AbortSignal,
): Promise<SearchAttempt> {
  try {
    return { search: await discovery.search(view, request, signal), failed: undefined };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "SEARCH_FAILED") throw error;
    return { search: undefined, failed: error.message };
  }
}
