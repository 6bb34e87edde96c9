import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Log } from "../events/log.ts";
import type { Authenticator } from "../identity/authenticator.ts";
import { GatewayError, toGatewayError } from "../shared/gateway-error.ts";
import type { Endpoint } from "./mcp/endpoint.ts";
import { refuse, type McpHttpHandler } from "./mcp/http.ts";
import { checkOrigin, type OriginRules } from "./origin.ts";

/** Everything that is not MCP; loaded at its first request, so that nobody waits for it who does not use it. */
export type RestHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface HttpServerDeps {
  readonly mcp: McpHttpHandler;
  readonly endpointOf: (path: string) => Endpoint | undefined;
  readonly loadRest: () => Promise<RestHandler>;
  readonly authenticator: () => Authenticator;
  readonly originRules: () => OriginRules;
  /** Undefined while everything is well; otherwise why the gateway should get no requests. */
  readonly unready: () => string | undefined;
  readonly log: Log;
}

export interface HttpServer {
  /** Resolves to the address once requests are answered. Throws PORT_TAKEN. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /** Takes no new connections; those that are idle end, the others after their answer. */
  drain(): void;
  /** Ends what is left. */
  close(): void;
}

/** Headers must be there by then (FAULTS.md 24: sockets that trickle are closed), all of them within Node's 16 KB. */
const headersTimeoutMs = 10_000;
const connectionCheckMs = 5_000;
const keepAliveTimeoutMs = 65_000;

/** node:http dispatches: one look at the path, no framework on the way of a call. */
export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const sockets = new Set<Socket>();
  let rest: RestHandler | undefined;
  let draining = false;
  const server: Server = createServer({ headersTimeout: headersTimeoutMs, requestTimeout: 0, connectionsCheckingInterval: connectionCheckMs, keepAliveTimeout: keepAliveTimeoutMs, maxHeaderSize: 16_384 }, handle);
  server.maxHeadersCount = 200;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.setNoDelay(true);
  });
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    else socket.destroy();
  });

  function handle(request: IncomingMessage, response: ServerResponse): void {
    try {
      checkOrigin(request, deps.originRules());
      const path = pathOf(request.url ?? "/");
      const endpoint = deps.endpointOf(path);
      if (endpoint !== undefined) {
        handleMcp(request, response, endpoint);
        return;
      }
      if (path === "/healthz") plain(request, response, 200, { status: "ok" });
      else if (path === "/readyz") ready(request, response);
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
    if (draining) throw new GatewayError("DRAINING", "the gateway is stopping", { data: { retry_after_s: 5 } });
    for (const [name, value] of Object.entries(corsHeaders(request))) response.setHeader(name, value);
    deps.mcp(request, response, endpoint, deps.authenticator().authenticate(request));
  }

  function ready(request: IncomingMessage, response: ServerResponse): void {
    const reason = draining ? "stopping" : deps.unready();
    plain(request, response, reason === undefined ? 200 : 503, reason === undefined ? { status: "ready" } : { status: "unready", reason });
  }

  function handleRest(request: IncomingMessage, response: ServerResponse): void {
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
    if (failure.code === "INTERNAL") deps.log.error({ component: "front", operation: request.method ?? "", err: failure.cause ?? failure }, failure.message);
    const challenge = failure.code === "UNAUTHORIZED" ? ["WWW-Authenticate", toChallenge(request)] : [];
    refuse(response, failure, challenge);
    request.resume();
  }

  return {
    listen: async (host, port) =>
      await new Promise((resolve, reject) => {
        server.once("error", (error: NodeJS.ErrnoException) => {
          reject(error.code === "EADDRINUSE" || error.code === "EACCES" ? new GatewayError("PORT_TAKEN", `cannot listen on ${host}:${port}: ${error.code === "EACCES" ? "not allowed" : "the port is taken"}`) : error);
        });
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

/** Only the path decides; absolute-form targets are taken apart (FAULTS.md 23). */
function pathOf(url: string): string {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function plain(request: IncomingMessage, response: ServerResponse, status: number, body: object): void {
  if (request.method !== "GET" && request.method !== "HEAD") throw new GatewayError("HTTP_METHOD_UNSUPPORTED", "only GET is served here");
  const text = JSON.stringify(body);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), "Cache-Control": "no-store" });
  response.end(request.method === "HEAD" ? undefined : text);
}

/** Where a client learns how to get a token (2026-07-28, authorization; RFC 9728). */
function toChallenge(request: IncomingMessage): string {
  return `Bearer realm="toolyard", error="invalid_token", resource_metadata="http://${String(request.headers.host)}/.well-known/oauth-protected-resource"`;
}

/** For origins that passed the check; without Origin there is nothing to allow. */
function corsHeaders(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers;
  if (origin === undefined) return noHeaders;
  return {
    "Access-Control-Allow-Origin": origin,
    Vary: "Origin",
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name",
    "Access-Control-Expose-Headers": "Mcp-Session-Id",
  };
}

const noHeaders: Record<string, string> = Object.freeze({});
