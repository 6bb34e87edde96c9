import type { IncomingMessage, ServerResponse } from "node:http";
import { randomUUID } from "node:crypto";
import type { TapPeer } from "../../../kernel/events/message-tap.ts";
import { failureText } from "../../../wire/mcp/error-object.ts";
import { peerOfSession } from "../caller.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { isBatch, readClientMessage, requireReadable, type ClientMessage } from "../../../wire/mcp/client-message.ts";
import { eraOfRevision } from "../../../wire/mcp/revisions.ts";
import type { Presence } from "../../../people/identity/session-validity.ts";
import type { PublicUrl } from "../../http/public-url.ts";
import type { PostsElsewhere } from "../endpoint/posts-elsewhere.ts";
import type { BodyRoom } from "../../http/guards/body-room.ts";
import { readBody } from "../../http/body.ts";
import { challengeOf } from "../../http/challenge.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { createLegacyHttp, type LegacyHttpDeps } from "./http-legacy.ts";
import { createModernHttp, type ModernHttpDeps } from "./http-modern.ts";
import { createHttpRun, toTap, type HttpRunDeps, type Incoming } from "./http-run.ts";
import { claimedRevision } from "../sessions/modern.ts";
import { refuse } from "../answers/replies.ts";
import type { StartupWait } from "../endpoint/endpoint.ts";

/** What every transport of MCP works with: Streamable HTTP, HTTP+SSE and stdio. */
export interface McpHttpDeps extends HttpRunDeps, ModernHttpDeps, LegacyHttpDeps {
  readonly clock: Clock;
  readonly startupWait: StartupWait;
  readonly publicUrl: PublicUrl;
  readonly presence: Presence;
  readonly bodyRoom: BodyRoom;
  /** Event streams of HTTP+SSE at other nodes; undefined where the gateway is alone. */
  readonly posts: () => PostsElsewhere | undefined;
  readonly node: () => string | undefined;
}

export type McpHttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  endpoint: Endpoint,
  principal: Principal,
) => void;

/** Requests that are answered, or begun, before anything is waited for. */
const standsAlone: ReadonlySet<string> = new Set(["initialize", "subscriptions/listen"]);

/** MCP over Streamable HTTP, both eras at one endpoint (2026-07-28 and 2025-11-25, transports). */
export function createMcpHttp(deps: McpHttpDeps): McpHttpHandler {
  const httpRun = createHttpRun(deps);
  const modern = createModernHttp(deps, httpRun);
  const legacy = createLegacyHttp(deps, httpRun, attempt);
  const bodyLimits = { bytes: deps.limits.requestBodyBytes, room: deps.bodyRoom };

  function receiveInTime(incoming: Incoming, body: Buffer, since: number): void {
    const known = deps.startupWait(incoming.endpoint, incoming.principal);
    if (known === undefined) attempt(incoming, () => receive(incoming, body, since));
    else attempt(incoming, () => receiveUnknown({ ...incoming, known }, body, since));
  }

  /** Any message but a request to be run needs the servers' capabilities at once, or no answer. */
  function receiveUnknown(incoming: Incoming & { readonly known: Promise<void> }, body: Buffer, since: number): void {
    const message = isBatch(body) ? undefined : read(body);
    if (message?.kind === "request" && !standsAlone.has(message.method)) receive(incoming, body, since);
    else void incoming.known.then(() => attempt(incoming, () => receive(incoming, body, since)));
  }

  function receive(incoming: Incoming, body: Buffer, since: number): void {
    deps.presence.require(incoming.principal, since);
    if (isBatch(body)) {
      legacy.receiveBatch(incoming, body);
      return;
    }
    const message = read(body);
    // Judging it took a turn of its own.
    if (body.length > largeBody) setImmediate(() => attempt(incoming, () => pass(incoming, message)));
    else pass(incoming, message);
  }

  /** A large body was judged by `receiveLarge`. */
  function read(body: Buffer): ClientMessage {
    return readClientMessage(body, deps.limits.jsonDepth, body.length > largeBody);
  }

  /** Putting its pieces together took a turn, judging it takes one, and reading it takes another. */
  function receiveLarge(incoming: Incoming, body: Buffer, since: number): void {
    attempt(incoming, () => {
      if (!isBatch(body)) requireReadable(body, deps.limits.jsonDepth);
      setImmediate(() => receiveInTime(incoming, body, since));
    });
  }

  function pass(incoming: Incoming, message: ClientMessage): void {
    if (isModern(incoming.request, message)) modern(incoming, message);
    else legacy.receive(incoming, message);
  }

  function attempt(incoming: Incoming, work: () => void): void {
    try {
      work();
    } catch (error) {
      const failure = toGatewayError(error);
      const { request, response, endpoint } = incoming;
      const challenge = challengeOf(failure, () => deps.publicUrl(request), endpoint.path);
      refuse(response, failure, challenge === undefined ? [] : ["WWW-Authenticate", challenge]);
      toTap(deps.tap, incoming)?.(failureText(failure), failure.row.http);
    }
  }

  return (request, response, endpoint, principal) => {
    switch (request.method) {
      case "POST": {
        const since = deps.presence.losses;
        readBody(request, bodyLimits, principal.user ?? principal.id, (error, body) => {
          const incoming = tapped(deps, { request, response, endpoint, principal }, body);
          if (error !== undefined) refuse(response, error);
          else if (body.length > largeBody) setImmediate(() => receiveLarge(incoming, body, since));
          else receiveInTime(incoming, body, since);
        });
        return;
      }
      case "GET":
      case "DELETE":
        legacy.withSession({ request, response, endpoint, principal });
        return;
      default:
        refuse(
          response,
          new GatewayError("HTTP_METHOD_UNSUPPORTED", `${String(request.method)} is not served at ${endpoint.path}`),
          ["Allow", "POST, GET, DELETE"],
        );
    }
  };
}

/** Shows the message to those who look at messages. */
function tapped(
  { tap, sessions }: Pick<McpHttpDeps, "tap" | "sessions">,
  incoming: Incoming,
  body: Buffer | undefined,
): Incoming {
  if (tap.take === undefined || body === undefined) return incoming;
  const { request, principal, endpoint } = incoming;
  const id = request.headers["mcp-session-id"];
  const session = typeof id === "string" ? sessions.find(id, principal, endpoint.path) : undefined;
  const peer = session === undefined ? strangerOf(principal) : peerOfSession(session);
  tap.take(peer, "in", body);
  return { ...incoming, peer };
}

/** A client without a session: its name is in its message, if anywhere. */
function strangerOf({ id }: Principal): TapPeer {
  return { side: "client", key: randomUUID(), name: undefined, principal: id };
}

const largeBody = 524_288;

/** The header or the body may say it; where they differ, the modern era has the error for that (fault 10). */
function isModern(request: IncomingMessage, message: ClientMessage): boolean {
  const header = request.headers["mcp-protocol-version"];
  if (typeof header === "string" && eraOfRevision(header) === "modern") return true;
  const claimed = message.kind === "response" ? undefined : claimedRevision(message.params);
  return typeof claimed === "string" && eraOfRevision(claimed) === "modern";
}
