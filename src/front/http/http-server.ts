import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Log } from "../../kernel/log.ts";
import type { Authenticator } from "../../people/identity/authenticator.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { toChallenge } from "./challenge.ts";
import { toClientFailure, toRawRefusal } from "./client-failure.ts";
import { corsHeaders } from "./cors.ts";
import { checkOrigin, type OriginRules } from "./origin.ts";
import { refuseWithProblem } from "./problem.ts";
import type { PublicUrl } from "./public-url.ts";
import { whenFound } from "./when-found.ts";

/** Everything that is not MCP; loaded at its first request, so that nobody waits for it who does not use it. */
export type RestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the server in front of MCP has to know of an endpoint. */
export interface HttpEndpoint {
  readonly path: string;
  readonly instance?: InstanceId;
}

/** MCP, as far as the server in front of it has to know. */
export interface McpOverHttp<Endpoint extends HttpEndpoint> {
  readonly endpointOf: (path: string) => Endpoint | undefined;
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
  /** Answers `GET /` with what this is and where things are. */
  readonly frontPage: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly authenticator: Authenticator;
  /** For the endpoint of one instance. Throws, or rejects with, UNAUTHORIZED. */
  readonly authenticateInstance: (request: IncomingMessage, instance: InstanceId) => Principal | Promise<Principal>;
  readonly originRules: () => OriginRules;
  readonly publicUrl: PublicUrl;
  /** How long a body may take to arrive (limits.bodyTimeoutMs). */
  readonly bodyTimeoutMs: number;
  /** Takes CONNECT requests; without it they are refused. */
  readonly onConnect?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
  /** Undefined while everything is well; otherwise why the gateway should get no requests. */
  readonly unready: () => string | undefined;
  readonly log: Log;
}

export interface HttpServer {
  /** For requests that somebody else's server took. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Resolves to the address once requests are answered. Throws PORT_TAKEN and ADDRESS_UNUSABLE. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Takes no new connections; those that are idle end, the others after their answer. */
  drain(): void;
  /** Ends what is left. */
  close(): void;
}

/** Headers must be there by then (fault 24: sockets that trickle are closed), all of them within Node's 16 KB. */
const headersTimeoutMs = 10_000;
const connectionCheckMs = 5_000;
const keepAliveTimeoutMs = 65_000;
/**
 * Real requests have a dozen. Node drops what is beyond its own count silently, an Origin among them, so we count first
 * (fault 20).
 */
const mostHeaders = 200;

/** node:http dispatches: one look at the path, no framework on the way of a call. */
export function createHttpServer<Endpoint extends HttpEndpoint>(deps: HttpServerDeps<Endpoint>): HttpServer {
  const sockets = new Set<Duplex>();
  let rest: RestHandler | undefined;
  let draining = false;
  // A whole request must be there within bodyTimeoutMs; it is looked at this often (faults 24, 25).
  const checkMs = Math.min(connectionCheckMs, Math.ceil(deps.bodyTimeoutMs / 6));
  const requestTimeout = Math.max(checkMs, deps.bodyTimeoutMs - checkMs);
  const server: Server = createServer(
    {
      headersTimeout: Math.min(headersTimeoutMs, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      maxHeaderSize: 16_384,
    },
    handle,
  );
  server.maxHeadersCount = mostHeaders;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.setNoDelay(true);
  });
  const { onConnect } = deps;
  if (onConnect !== undefined) server.on("connect", onConnect);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // As Node's own handler finds it. Kept in a table of ours, a response would outlive its request.
    const response = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
    const failure = toClientFailure(error, { headersTimeoutMs, bodyTimeoutMs: deps.bodyTimeoutMs });
    if (!socket.writable) socket.destroy();
    else if (response == null) socket.end(toRawRefusal(failure));
    else if (response.req.complete) response.once("finish", () => socket.end());
    else if (response.headersSent) socket.destroy();
    else refuseWith(response.req, response, failure);
  });

  function handle(request: IncomingMessage, response: ServerResponse): void {
    try {
      if (request.rawHeaders.length > 2 * mostHeaders)
        throw new GatewayError("HEADERS_TOO_LARGE", `the request has more than ${mostHeaders} headers`);
      checkOrigin(request, deps.originRules());
      const path = pathOf(request.url ?? "/");
      const endpoint = deps.mcp.endpointOf(path);
      if (endpoint !== undefined) {
        handleMcp(request, response, endpoint);
        return;
      }
      if (path === "/healthz") plain(request, response, 200, { status: "ok" });
      else if (path === "/readyz") ready(request, response);
      else if (path === "/" && (request.method === "GET" || request.method === "HEAD"))
        deps.frontPage(request, response).catch((error: unknown) => refuseWith(request, response, error));
      else handleRest(request, response);
    } catch (error) {
      refuseWith(request, response, error);
    }
  }

  function handleMcp(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): void {
    if (request.method === "OPTIONS") {
      // A browser of an allowed origin asks first; every other origin was refused above.
      response.writeHead(204, corsHeaders(request)).end();
      return;
    }
    refuseWhileDraining();
    if (request.headers.origin !== undefined)
      for (const [name, value] of Object.entries(corsHeaders(request))) response.setHeader(name, value);
    const found =
      endpoint.instance === undefined
        ? deps.authenticator.authenticate(request)
        : deps.authenticateInstance(request, endpoint.instance);
    if (!(found instanceof Promise)) {
      deps.mcp.handle(request, response, endpoint, found);
      return;
    }
    whenFound({
      found,
      response,
      enter(principal) {
        refuseWhileDraining();
        deps.mcp.handle(request, response, endpoint, principal);
      },
      refuse: (error) => refuseWith(request, response, error),
    });
  }

  function refuseWhileDraining(): void {
    if (draining) throw new GatewayError("DRAINING", "the gateway is stopping", { data: { retry_after_s: 5 } });
  }

  function ready(request: IncomingMessage, response: ServerResponse): void {
    const reason = draining ? "stopping" : deps.unready();
    plain(
      request,
      response,
      reason === undefined ? 200 : 503,
      reason === undefined ? { status: "ready" } : { status: "unready", reason },
    );
  }

  function handleRest(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== "GET" && request.method !== "HEAD") refuseWhileDraining();
    if (rest !== undefined) {
      rest(request, response);
      return;
    }
    deps.loadRest().then(
      (loaded) => {
        rest = loaded;
        loaded(request, response);
      },
      (error: unknown) => refuseWith(request, response, error),
    );
  }

  function refuseWith(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const failure = toGatewayError(error);
    if (failure.code === "INTERNAL")
      deps.log.error(
        { component: "front", operation: request.method ?? "", err: failure.cause ?? failure },
        failure.message,
      );
    const endpoint = deps.mcp.endpointOf(pathOf(request.url ?? "/"));
    const challenge: Record<string, string> =
      failure.code === "UNAUTHORIZED"
        ? { "WWW-Authenticate": toChallenge(deps.publicUrl(request), endpoint?.path ?? "") }
        : {};
    if (endpoint === undefined) refuseWithProblem(response, failure, challenge);
    else deps.mcp.refuse(response, failure, Object.entries(challenge).flat());
    request.resume();
  }

  return {
    handle,
    listen: async (host, port) =>
      await new Promise((resolve, reject) => {
        server.once("error", (error: NodeJS.ErrnoException) => reject(toListenFailure(error, `${host}:${port}`)));
        server.listen({ host, port, backlog: 4_096 }, () => resolve(server.address() as AddressInfo));
      }),
    drain() {
      draining = true;
      server.close();
      server.closeIdleConnections();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function toListenFailure(error: NodeJS.ErrnoException, address: string): Error {
  const fail = (code: "PORT_TAKEN" | "ADDRESS_UNUSABLE", why: string) =>
    new GatewayError(code, `cannot listen on ${address}: ${why}`, { cause: error });
  switch (error.code) {
    case "EADDRINUSE":
      return fail("PORT_TAKEN", "the port is taken");
    case "EACCES":
      return fail("PORT_TAKEN", "not allowed");
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "EINVAL":
      return fail("ADDRESS_UNUSABLE", "this machine does not have that address");
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return fail("ADDRESS_UNUSABLE", "no address is known for that name");
    default:
      return error;
  }
}

/** Only the path decides; absolute-form targets are taken apart (fault 23). */
function pathOf(url: string): string {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function plain(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new GatewayError("HTTP_METHOD_UNSUPPORTED", "only GET is served here");
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
  });
  response.end(request.method === "HEAD" ? undefined : text);
}
