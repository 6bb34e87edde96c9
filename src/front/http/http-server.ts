import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { requireScope } from "../../engine/policy/scopes.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Authenticator } from "../../people/identity/authenticator.ts";
import type { FailureCode } from "../../kernel/failures/failures.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { challengeOf } from "./challenge.ts";
import { corsHeaders, checkOrigin, isWithoutKnownHost, type GatewayOriginRules } from "./guards/origin.ts";
import type { ConnectionRoom } from "./guards/body-room.ts";
import { answerHealth, isHealth, isRead, type Readiness } from "./health.ts";
import { createHttpListener, mostHeaders, type HttpListener } from "./http-listener.ts";
import { refuseWithProblem } from "./problem.ts";
import type { PeerCheck } from "./guards/peer-user.ts";
import { type PublicUrl, requestPath } from "./public-url.ts";
import { whenFound } from "./when-found.ts";

/**
 * Everything that is not MCP; loaded at its first request, so that a gateway without such requests does not load it.
 */
export type RestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the server in front of MCP has to know of an endpoint. */
export interface HttpEndpoint {
  readonly path: string;
  readonly instance?: InstanceId;
}

/** MCP, as far as the server in front of it has to know. */
export interface McpOverHttp<Endpoint extends HttpEndpoint> {
  readonly endpointOf: (path: string) => Endpoint | undefined;
  /** What answers at the path of an endpoint's server card; undefined at all others. */
  readonly cardAt: (path: string) => RestHandler | undefined;
  readonly handle: (
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: Endpoint,
    principal: Principal,
  ) => void;
  /** A request to an endpoint that never came to run: a JSON-RPC error with the status of its row. */
  readonly refuse: (response: ServerResponse, failure: GatewayError, headers: readonly string[]) => void;
}

export interface HttpServerDeps<Endpoint extends HttpEndpoint> {
  readonly mcp: McpOverHttp<Endpoint>;
  readonly loadRest: () => Promise<RestHandler>;
  /** The pages below `/ui/`, loaded at the first request for one. */
  readonly loadDashboard: () => Promise<RestHandler>;
  /** Pages for people and OAuth for their apps, where there are people: loaded at the first request for one. */
  readonly people?: { readonly owns: (path: string) => boolean; readonly load: () => Promise<RestHandler> } | undefined;
  /** Answers `GET /` with what this is and where things are. */
  readonly frontPage: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly authenticator: Authenticator;
  /** For the endpoint of one instance. Throws, or rejects with, UNAUTHORIZED. */
  readonly authenticateInstance: (request: IncomingMessage, instance: InstanceId) => Principal | Promise<Principal>;
  readonly originRules: () => GatewayOriginRules;
  /** Asked of connections of our own. Health is told to everybody. */
  readonly checkPeer: PeerCheck;
  readonly publicUrl: PublicUrl;
  /** How long a body may take to arrive (limits.bodyTimeoutMs). */
  readonly bodyTimeoutMs: number;
  readonly room: ConnectionRoom;
  /** Takes CONNECT requests; without it they are refused. */
  readonly onConnect?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
  /** Asked while the gateway does not stop: then it is not ready in any case. */
  readonly readiness: () => Readiness;
  /** Told of requests that are refused for where they come from. */
  readonly onDenied?: ((request: IncomingMessage, failure: GatewayError) => void) | undefined;
  readonly log: Log;
}

export interface HttpServer extends HttpListener {
  /** For requests that somebody else's server took. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** For requests of the owner, which came to no address and are for REST alone. */
  readonly rest: RestHandler;
}

const deniedByPlace: ReadonlySet<FailureCode> = new Set(["ORIGIN_FORBIDDEN", "HOST_FORBIDDEN", "PEER_FORBIDDEN"]);

type Refuse = (request: IncomingMessage, response: ServerResponse, error: unknown) => void;

/** node:http dispatches: one look at the path, no framework on the way of a call. */
export function createHttpServer<Endpoint extends HttpEndpoint>(deps: HttpServerDeps<Endpoint>): HttpServer {
  const refuse = createRefusal(deps);
  const rest = createLateRest(deps.loadRest, refuse);
  const dashboard = createLateRest(deps.loadDashboard, refuse);
  const { people } = deps;
  const peoplePages = people === undefined ? undefined : createLateRest(people.load, refuse);
  let leaving = false;
  let draining = false;

  function handle(request: IncomingMessage, response: ServerResponse): void {
    try {
      checkHeaderCount(request);
      const path = requestPath(request.url ?? "/");
      const endpoint = deps.mcp.endpointOf(path);
      const card = endpoint === undefined ? deps.mcp.cardAt(path) : undefined;
      const rules = card === undefined ? deps.originRules() : deps.originRules().ofCards;
      if (isHealth(path) && isRead(request) && isWithoutKnownHost(request, rules))
        return answerHealth(request, response, { readiness: readinessAt(path), isDetailed: false });
      checkOrigin(request, rules);
      if (endpoint === undefined) handleOther(request, response, path, card);
      else handleMcp(request, response, endpoint);
    } catch (error) {
      refuse(request, response, error);
    }
  }

  function handleMcp(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): void {
    // A browser of an allowed origin asks first; every other origin was refused above.
    if (request.method === "OPTIONS") return void response.writeHead(204, corsHeaders(request)).end();
    refuseWhileDraining();
    allowOrigin(request, response);
    const found = authenticated(deps, request, endpoint);
    if (!(found instanceof Promise)) {
      requireScope(found, "mcp:read");
      deps.mcp.handle(request, response, endpoint, found);
      return;
    }
    whenFound({
      found,
      response,
      enter(principal) {
        refuseWhileDraining();
        requireScope(principal, "mcp:read");
        deps.mcp.handle(request, response, endpoint, principal);
      },
      refuse: (error) => refuse(request, response, error),
    });
  }

  function handleOther(request: IncomingMessage, response: ServerResponse, path: string, card?: RestHandler): void {
    const isReading = isRead(request);
    if (card !== undefined) card(request, response);
    else if (isHealth(path)) answerHealth(request, response, { readiness: readinessAt(path), isDetailed: true });
    else if (path === "/" && isReading)
      deps.frontPage(request, response).catch((error: unknown) => refuse(request, response, error));
    else if (isDashboard(path)) dashboard(request, response);
    else {
      if (!isReading) refuseWhileDraining();
      if (peoplePages !== undefined && people?.owns(path) === true) peoplePages(request, response);
      else rest(request, response);
    }
  }

  function readinessAt(path: string): Readiness | undefined {
    if (path === "/healthz") return undefined;
    return leaving ? { ...deps.readiness(), unready: "stopping" } : deps.readiness();
  }

  function refuseWhileDraining(): void {
    if (draining) throw new GatewayError("DRAINING", "the gateway is stopping", { data: { retry_after_s: 5 } });
  }

  const listener = createHttpListener({ ...deps, handle: fromAllowed(deps, handle, refuse), refuse });
  return {
    ...listener,
    handle,
    rest,
    leave() {
      leaving = true;
      listener.leave();
    },
    drain() {
      draining = true;
      listener.drain();
    },
  };
}

function authenticated(
  deps: Pick<HttpServerDeps<HttpEndpoint>, "authenticator" | "authenticateInstance">,
  request: IncomingMessage,
  { instance }: HttpEndpoint,
): ReturnType<Authenticator["authenticate"]> {
  return instance === undefined
    ? deps.authenticator.authenticate(request)
    : deps.authenticateInstance(request, instance);
}

function checkHeaderCount({ rawHeaders }: IncomingMessage): void {
  if (rawHeaders.length > 2 * mostHeaders)
    throw new GatewayError("HEADERS_TOO_LARGE", `the request has more than ${mostHeaders} headers`);
}

function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.origin === undefined) return;
  for (const [name, value] of Object.entries(corsHeaders(request))) response.setHeader(name, value);
}

/** The same for requests of users who may come in. Whose program it is may have to be asked of the system first. */
function fromAllowed(
  { checkPeer }: Pick<HttpServerDeps<HttpEndpoint>, "checkPeer">,
  handle: RestHandler,
  refuse: Refuse,
): RestHandler {
  return (request, response) => {
    const looking = isHealth(request.url) ? undefined : checkPeer(request);
    if (looking === undefined) handle(request, response);
    else
      looking.then(
        () => handle(request, response),
        (error: unknown) => refuse(request, response, error),
      );
  };
}

/** Its pages, and the frame in which it shows pages of servers. */
function isDashboard(path: string): boolean {
  return (path.startsWith("/ui") && (path.length === 3 || path[3] === "/")) || path === "/sandbox";
}

/** Loads REST at its first request; those that come meanwhile wait for the same. */
function createLateRest(loadRest: () => Promise<RestHandler>, refuse: Refuse): RestHandler {
  let rest: RestHandler | undefined;
  return (request, response) => {
    if (rest !== undefined) {
      rest(request, response);
      return;
    }
    loadRest().then(
      (loaded) => {
        rest = loaded;
        loaded(request, response);
      },
      (error: unknown) => refuse(request, response, error),
    );
  };
}

/** Answers a request that never came to run, in the form that its path has: JSON-RPC, or a problem document. */
function createRefusal<Endpoint extends HttpEndpoint>(deps: HttpServerDeps<Endpoint>): Refuse {
  const { mcp, publicUrl, log } = deps;
  return (request, response, error) => {
    const failure = toGatewayError(error);
    if (deniedByPlace.has(failure.code)) deps.onDenied?.(request, failure);
    if (failure.code === "INTERNAL")
      log.error(
        { component: "front", operation: request.method ?? "", err: failure.cause ?? failure },
        failure.message,
      );
    const endpoint = mcp.endpointOf(requestPath(request.url ?? "/"));
    const wanted = challengeOf(failure, () => publicUrl(request), endpoint?.path ?? "");
    const challenge: Record<string, string> = wanted === undefined ? {} : { "WWW-Authenticate": wanted };
    if (endpoint === undefined) refuseWithProblem(response, failure, challenge);
    else mcp.refuse(response, failure, Object.entries(challenge).flat());
    request.resume();
  };
}
