import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { createBodyRoom } from "../../front/http/guards/body-room.ts";
import { createAdmission } from "../../front/http/guards/admission.ts";
import type { PublicUrl } from "../../front/http/public-url.ts";
import { type Endpoint, type EndpointOf, createStartupWait } from "../../front/mcp/endpoint/endpoint.ts";
import { createMcpHttp, type McpHttpDeps, type McpHttpHandler } from "../../front/mcp/transports/http.ts";
import { createRunningRequests } from "../../front/mcp/running/running-requests.ts";
import { createLongWaits } from "../../front/mcp/endpoint/long-waits.ts";
import { createServerCards } from "../../front/mcp/endpoint/server-card.ts";
import { createMcpSse } from "../../front/mcp/transports/sse.ts";
import type { PostsElsewhere } from "../../front/mcp/endpoint/posts-elsewhere.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { MessageTap } from "../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Presence } from "../../people/identity/session-validity.ts";
import type { Engine } from "./engine-wing.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createMcpRequests, type McpRequestsDeps } from "./mcp-requests.ts";

export interface McpFrontDeps extends McpRequestsDeps, Pick<Engine, "sessionlessClients"> {
  readonly publicUrl: PublicUrl;
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
  readonly endpointOf: EndpointOf;
  readonly presence: Presence;
  readonly fleet: Pick<Fleet, "get" | "clients" | "adopting">;
}

/** `front/mcp`, connected. */
export interface McpFront {
  readonly http: McpHttpHandler;
  readonly endpointOf: EndpointOf;
  /** Who somebody is at an endpoint, which may be that of a profile. Throws PROFILE_UNKNOWN and FORBIDDEN. */
  readonly enter: (principal: Principal, endpoint: Endpoint) => Principal;
  readonly cardAt: ReturnType<typeof createServerCards>;
  /** What a transport other than HTTP (stdio) needs to serve clients. */
  readonly parts: McpHttpDeps;
  /** Servers that teams installed, or the rules of these, changed: clients whose lists are others now are told. */
  followViews(): void;
  /** Sessions can be made again at other gateways, where there may be some. To be called before there are sessions. */
  shareSessions(): Promise<void>;
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
  const { limits } = deps.config().settings;
  const { serverInfo, sessions, conversations, runner, legacy, listen, ...others } = createMcpRequests(deps);
  const running = createRunningRequests();
  const admission = createAdmission(() => deps.config().settings.limits, clock);
  deps.cluster?.shareLimits(admission);
  const elsewhere = deps.cluster?.elsewhere;
  let posts: PostsElsewhere | undefined;
  const parts: McpHttpDeps = {
    posts: () => posts,
    node: () => elsewhere?.node,
    publicUrl: deps.publicUrl,
    presence: deps.presence,
    bodyRoom: createBodyRoom(limits.requestBodyBytes),
    runner,
    waits: createLongWaits(),
    legacy,
    listen,
    sessions,
    resumed: others.resumed,
    limits,
    clock,
    memory: deps.memory,
    tap: deps.tap,
    admission,
    running,
    startupWait: createStartupWait({
      viewOf,
      adopting: fleet.adopting,
      settledOne: async (instance, signal) => await fleet.get(instance)?.settled(signal),
    }),
    sessionlessClients: deps.sessionlessClients,
    ofClient: deps.profiles.ofClient,
  };
  const http = createMcpHttp(parts);
  const enter = (principal: Principal, { profile }: Endpoint): Principal =>
    profile === undefined ? principal : deps.profiles.enter(principal, profile);
  const sse = createMcpSse(parts);
  return {
    http(request, response, endpoint, given) {
      const principal = enter(given, endpoint);
      if (endpoint.sse === undefined) http(request, response, endpoint, principal);
      else sse.handle(request, response, endpoint, principal);
    },
    enter,
    endpointOf,
    cardAt: createServerCards({ endpointOf, publicUrl: deps.publicUrl, serverInfo }),
    parts,
    followViews: others.followViews,
    async shareSessions() {
      await others.shareSessions();
      if (elsewhere === undefined) return;
      const load = async () => await import("../../front/mcp/endpoint/posts-elsewhere.ts");
      const { createPostsElsewhere } = await deps.loadLate("the code for event streams of several nodes", load);
      posts = createPostsElsewhere({ elsewhere, find: sse.held, post: sse.handle, room: parts.bodyRoom });
    },
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
