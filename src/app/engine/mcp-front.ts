import { randomBytes } from "node:crypto";
import type { Pins } from "../../catalog/discovery/pins.ts";
import type { LazyNames } from "../../catalog/model/names/lazy-names.ts";
import type { View } from "../../catalog/model/view.ts";
import type { Config } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { FindingMeter } from "../../records/usage/finding.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { createBodyRoom } from "../../front/http/guards/body-room.ts";
import { createAdmission } from "../../front/http/guards/admission.ts";
import type { PublicUrl } from "../../front/http/public-url.ts";
import { createProfileOf } from "../../front/mcp/endpoint/client-profile.ts";
import { createParkedConversations } from "../../front/mcp/running/parked-conversations.ts";
import { createDispatch } from "../../front/mcp/endpoint/dispatch.ts";
import type { EndpointOf } from "../../front/mcp/endpoint/endpoint.ts";
import { createMcpHttp, type McpHttpDeps, type McpHttpHandler } from "../../front/mcp/transports/http.ts";
import { createStartupWait } from "../../front/mcp/endpoint/startup-wait.ts";
import { createLegacyRequests } from "../../front/mcp/sessions/legacy.ts";
import { createListenRequests } from "../../front/mcp/listen/listen.ts";
import { createNotifier } from "../../front/mcp/streams/notifier.ts";
import { createOwnInstances } from "../../front/mcp/own-instances.ts";
import { createPageBook } from "../../front/mcp/streams/pages.ts";
import { createRunningRequests } from "../../front/mcp/running/running-requests.ts";
import { createLongWaits } from "../../front/mcp/endpoint/long-waits.ts";
import { createRequestRunner } from "../../front/mcp/endpoint/request-run.ts";
import { createServerCards } from "../../front/mcp/endpoint/server-card.ts";
import { createSessionStore } from "../../front/mcp/sessions/session-store.ts";
import { createMcpSse } from "../../front/mcp/transports/sse.ts";
import { toWireError } from "../../front/mcp/answers/wire-error.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { toGatewayError, type GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Presence } from "../../people/identity/session-validity.ts";
import type { Engine } from "./engine-wing.ts";
import type { Principal } from "../../kernel/principal.ts";

export interface McpFrontDeps extends Pick<
  Engine,
  "routing" | "performer" | "subscriptions" | "logLevels" | "sessionlessClients"
> {
  readonly config: () => Config;
  readonly publicUrl: PublicUrl;
  readonly identity: { readonly name: string; readonly version: string };
  /** Ids of this gateway and of those behind it. */
  readonly gateways: () => readonly string[];
  readonly clock: Clock;
  readonly memory: LargeBuffers;
  readonly log: Log;
  readonly events: EventBus;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  readonly endpointOf: EndpointOf;
  readonly pins: Pick<Pins, "of">;
  readonly finding: FindingMeter;
  readonly presence: Presence;
  readonly fleet: Pick<Fleet, "get" | "clients" | "adopting">;
}

/** `front/mcp`, connected. */
export interface McpFront {
  readonly http: McpHttpHandler;
  readonly endpointOf: EndpointOf;
  readonly cardAt: ReturnType<typeof createServerCards>;
  /** What a transport other than HTTP (stdio) needs to serve clients. */
  readonly parts: McpHttpDeps;
  /** Does the checks that are due at regular intervals. */
  tick(): void;
  /** Ends the calls that wait for a client to return with answers. */
  endParked(why: () => GatewayError): void;
  /** Ends the streams of all principals for which the predicate is true: their sessions and running calls go on. */
  endStreamsWhere(over: (principal: Principal) => boolean): void;
  /** Ends the requests, sessions and streams of all principals for which the predicate is true. */
  endWhere(gone: (principal: Principal) => boolean, why: () => GatewayError): void;
}

/** Builds MCP over Streamable HTTP and HTTP+SSE, and what stdio shares with them: sessions, streams, limits. */
export function createMcpFront(deps: McpFrontDeps): McpFront {
  const { viewOf, clock, fleet, endpointOf } = deps;
  // As of the start, for what cannot change while the gateway runs.
  const { limits, results } = deps.config().settings;
  const serverInfo = { ...deps.identity, title: "Toolyard" };
  const serverInfoText = asciiJson(serverInfo);
  const ownInstances = createOwnInstances(fleet.get, fleet.clients);
  const notifier = createNotifier(deps.events, viewOf, ownInstances, deps.performer.isTaskOf);
  const sessions = createSessionStore(limits, clock);
  const profileOf = createProfileOf(() => deps.config().settings.clients);
  const dispatch = createDispatch({
    viewOf,
    namesInTurns: deps.namesInTurns,
    performer: deps.performer,
    finding: deps.finding,
    maxTokens: results.discoverTokens,
    routing: deps.routing,
    pins: deps.pins,
    pages: createPageBook(randomBytes(32)),
    profileOf,
    serverInfo,
    gateways: deps.gateways,
  });
  const conversations = createParkedConversations({ parkedMs: limits.parkedMs, mostParked: mostParkedCalls, clock });
  const runner = createRequestRunner(dispatch, conversations, serverInfoText, (error, caller, method) => {
    const failure = toGatewayError(error);
    if (failure.code === "INTERNAL")
      deps.log.error({ component: "front", operation: method, err: failure.cause ?? failure }, failure.message);
    return toWireError(failure, caller.client.era, method);
  });
  const legacy = createLegacyRequests({
    sessions,
    viewOf,
    notifier,
    subscriptions: deps.subscriptions,
    logLevels: deps.logLevels,
    routing: deps.routing,
    ownInstances,
    serverInfo,
    gateways: deps.gateways,
    profileOf,
  });
  const listen = createListenRequests({
    viewOf,
    notifier,
    subscriptions: deps.subscriptions,
    ownInstances,
    serverInfoText,
  });
  const running = createRunningRequests();
  const admission = createAdmission(() => deps.config().settings.limits, clock);
  const parts: McpHttpDeps = {
    publicUrl: deps.publicUrl,
    presence: deps.presence,
    bodyRoom: createBodyRoom(limits.requestBodyBytes),
    runner,
    waits: createLongWaits(),
    legacy,
    listen,
    sessions,
    limits,
    clock,
    memory: deps.memory,
    admission,
    running,
    startupWait: createStartupWait({
      viewOf,
      adopting: fleet.adopting,
      settledOne: async (instance, signal) => await fleet.get(instance)?.settled(signal),
    }),
    sessionlessClients: deps.sessionlessClients,
  };
  const http = createMcpHttp(parts);
  const sse = createMcpSse(parts);
  return {
    http(request, response, endpoint, principal) {
      if (endpoint.sse === undefined) http(request, response, endpoint, principal);
      else sse.handle(request, response, endpoint, principal);
    },
    endpointOf,
    cardAt: createServerCards({ endpointOf, publicUrl: deps.publicUrl, serverInfo }),
    parts,
    tick() {
      sessions.expire();
      sse.expire();
    },
    endParked: conversations.end,
    endStreamsWhere(over) {
      for (const session of sessions.all()) if (over(session.principal)) session.pushes.end();
      listen.endWhere(over);
      sse.endWhere(over);
    },
    endWhere(gone, why) {
      const reason = why().message;
      running.endWhere(gone, why);
      conversations.endWhere(gone, why);
      sessions.endWhere((session) => gone(session.principal), reason);
      listen.endWhere(gone);
      sse.endWhere(gone);
    },
  };
}

/** Parked calls of the whole gateway. Each server has its own, smaller limit. */
const mostParkedCalls = 1_000;
