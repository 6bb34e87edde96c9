import { answerText } from "../../wire/mcp/envelope.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import { settingNow } from "../../kernel/setting-now.ts";
import type { Principal } from "../../kernel/principal.ts";
import { readBody } from "../http/body.ts";
import { prefixOf } from "../http/public-url.ts";
import { answerBatch } from "./batch.ts";
import type { Caller } from "./caller.ts";
import type { Endpoint } from "./endpoint.ts";
import type { McpHttpDeps, McpHttpHandler } from "./http.ts";
import { createHttpRun, keepAliveMs, type Incoming } from "./http-run.ts";
import { isBatch, MessageError, readClientMessage, type ClientRequest } from "../../wire/mcp/client-message.ts";
import { refuse } from "./replies.ts";
import { joinText } from "./result-text.ts";
import { createSseStream, type SseStream } from "./sse-stream.ts";

/** The transport that Streamable HTTP replaced. */
export interface McpSse {
  readonly handle: McpHttpHandler;
  /** Ends streams on which nobody has initialized and nothing was said for too long; called now and then. */
  expire(): void;
  /** Ends the streams of the principals for which the predicate holds. */
  endWhere(gone: (principal: Principal) => boolean): void;
}

/** The only revision of which HTTP+SSE is the transport: what a client is taken for before it has said. */
const assumedRevision = "2024-11-05";
const streamOnly = { stream: true, json: false } as const;

/**
 * MCP over HTTP+SSE (2024-11-05, transports): a GET opens an event stream, which begins with the URL that messages
 * are posted to; each POST is answered with 202, and the answer to its message comes on the stream. Sessions, limits
 * and work are those of Streamable HTTP.
 */
export function createMcpSse(deps: McpHttpDeps): McpSse {
  const streams = new Map<string, SseStream>();
  const { admit, run } = createHttpRun(deps);
  const bodyLimits = { bytes: deps.limits.requestBodyBytes };

  function open(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint, principal: Principal): void {
    if (!acceptsEvents(request.headers.accept))
      throw new GatewayError("NOT_ACCEPTABLE", "this stream needs Accept: text/event-stream");
    if (streams.size >= deps.limits.sessions)
      throw new GatewayError("SESSION_LIMIT", `${streams.size} event streams are open (limits.sessions)`, {
        hint: `Close streams that are not used, or raise ${settingNow("limits.sessions", deps.limits.sessions)}.`,
      });
    const leave = deps.admission.openStream(principal);
    const stream = createSseStream({
      response,
      endpoint,
      principal,
      prefix: prefixOf(deps.publicUrl(request)),
      query: tokenOf(request, endpoint),
      nowMs: deps.clock.monotonic(),
      keepAliveMs,
      memory: deps.memory,
      onClose({ id, session }) {
        leave();
        streams.delete(id);
        if (session !== undefined) deps.sessions.end(session, "the client closed its event stream");
      },
    });
    streams.set(stream.id, stream);
  }

  /** Somebody else's stream is answered like one that does not exist: its id is no credential. */
  function findStream({ url }: IncomingMessage, endpoint: Endpoint, principal: Principal): SseStream {
    const stream = streams.get(queryOf(url).get("sessionId") ?? "");
    if (
      stream === undefined ||
      stream.closed ||
      stream.principal.id !== principal.id ||
      stream.endpoint.path !== endpoint.path
    )
      throw new GatewayError("SESSION_UNKNOWN", "there is no such session at this endpoint", {
        hint: `Open an event stream with GET ${endpoint.path}, and post to the URL that it begins with.`,
      });
    return stream;
  }

  /** The body is not read while the client has much left to read itself. */
  async function take(incoming: Incoming & { readonly stream: SseStream }): Promise<void> {
    const { request, response, endpoint, principal, stream } = incoming;
    stream.lastUseMs = deps.clock.monotonic();
    await stream.room();
    readBody(request, bodyLimits, (error, body) => {
      const known = error === undefined ? deps.startupWait(endpoint, principal) : undefined;
      if (error !== undefined) refuse(response, error);
      else if (known === undefined) receive(incoming, body);
      else void known.then(() => receive(incoming, body));
    });
  }

  function receive(incoming: Incoming & { readonly stream: SseStream }, body: Buffer): void {
    const { request, response, endpoint, principal } = incoming;
    try {
      // It may have ended while the body was on its way.
      const stream = findStream(request, endpoint, principal);
      const { session } = stream;
      const caller: Caller = {
        principal,
        endpoint,
        client: {
          era: "legacy",
          revision: session?.revision ?? assumedRevision,
          capabilities: session?.capabilities ?? {},
        },
        session,
      };
      if (isBatch(body)) {
        takeBatch(stream, caller, body);
        accepted(response);
        return;
      }
      const message = readClientMessage(body, deps.limits.jsonDepth);
      if (message.kind !== "request") deps.legacy.receive(message, session);
      else if (message.method === "initialize") {
        if (!initialize(incoming, message)) return;
      } else if (!run(incoming, message, caller, streamOnly, session)) return;
      accepted(response);
    } catch (error) {
      refuse(response, toGatewayError(error));
    }
  }

  /** False when the request was refused. */
  function initialize(
    { response, endpoint, principal, stream }: Incoming & { readonly stream: SseStream },
    message: ClientRequest,
  ): boolean {
    if (stream.session !== undefined)
      throw new MessageError("REQUEST_INVALID", "this event stream has been initialized already", message.idText);
    const leave = admit(response, message, () => deps.admission.admit(principal));
    if (leave === undefined) return false;
    leave();
    const made = deps.legacy.initialize(message, principal, endpoint, true);
    stream.session = made.session;
    made.session?.attachLine(stream.send);
    stream.send(answerText(message.idText, joinText(made.reply.body)));
    return true;
  }

  function takeBatch(stream: SseStream, caller: Caller, body: Buffer): void {
    if (caller.client.revision !== "2025-03-26")
      throw new MessageError("REQUEST_INVALID", "a batch of messages exists only in revision 2025-03-26");
    answerBatch(body, caller, deps, (reply) => {
      if (reply !== undefined) stream.send(reply);
    });
  }

  return {
    handle(request, response, endpoint, principal) {
      const wanted = endpoint.sse === "stream" ? "GET" : "POST";
      try {
        if (request.method !== wanted) {
          const failure = new GatewayError(
            "HTTP_METHOD_UNSUPPORTED",
            `GET ${endpoint.path} opens an event stream, which begins with the URL that messages are posted to`,
          );
          refuse(response, failure, ["Allow", wanted]);
        } else if (endpoint.sse === "stream") open(request, response, endpoint, principal);
        else {
          const stream = findStream(request, endpoint, principal);
          take({ request, response, endpoint, principal, stream }).catch((error: unknown) =>
            refuse(response, toGatewayError(error)),
          );
        }
      } catch (error) {
        refuse(response, toGatewayError(error));
      }
    },
    expire() {
      const oldestMs = deps.clock.monotonic() - deps.limits.sessionIdleMs;
      for (const stream of streams.values())
        if (stream.session === undefined && stream.lastUseMs < oldestMs) stream.end();
    },
    endWhere(gone) {
      for (const stream of streams.values()) if (gone(stream.principal)) stream.end();
    },
  };
}

function accepted(response: ServerResponse): void {
  response.writeHead(202).end();
}

/** Whoever says nothing about what it takes, or takes everything, gets the only thing there is. */
function acceptsEvents(accept: string | undefined): boolean {
  return accept === undefined || /text\/event-stream|text\/\*|\*\/\*/.test(accept);
}

/** A client that could only put its instance token in the URL posts to the URL that it is given, and nothing else. */
function tokenOf({ headers, url }: IncomingMessage, endpoint: Endpoint): string {
  const token =
    endpoint.instance === undefined || headers.authorization !== undefined ? null : queryOf(url).get("token");
  return token === null ? "" : `&token=${encodeURIComponent(token)}`;
}

function queryOf(url = ""): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : url.slice(at));
}
