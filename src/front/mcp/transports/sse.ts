import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { McpHttpDeps, McpHttpHandler } from "./http.ts";
import { createHttpRun, type HttpRun, type Incoming } from "./http-run.ts";
import { refuse } from "../answers/replies.ts";
import { createSseStreams, streamIdOf, unknownStream, type SseStreams } from "./sse-streams.ts";
import type { ServerResponse } from "node:http";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { traceContextOf } from "../../../kernel/runtime/tracing.ts";
import { isBatch, MessageError, readClientMessage, type ClientRequest } from "../../../wire/mcp/client-message.ts";
import { answerText } from "../../../wire/mcp/envelope.ts";
import type { MessageTap } from "../../../kernel/events/message-tap.ts";
import type { BodyRoom } from "../../http/guards/body-room.ts";
import { readBody } from "../../http/body.ts";
import { answerBatch, type BatchDeps } from "./batch.ts";
import type { Caller } from "../caller.ts";
import { joinText } from "../answers/result-text.ts";
import { peerOfStream, type SseStream } from "./sse-stream.ts";
import type { StartupWait } from "../endpoint/endpoint.ts";

/** The transport that Streamable HTTP replaced. */
export interface McpSse extends Pick<SseStreams, "expire" | "endWhere" | "held"> {
  readonly handle: McpHttpHandler;
}

/**
 * MCP over HTTP+SSE (2024-11-05, transports): a GET opens an event stream, which begins with the URL that messages
 * are posted to; each POST is answered with 202, and the answer to its message comes on the stream. Sessions, limits
 * and work are those of Streamable HTTP.
 */
export function createMcpSse(deps: McpHttpDeps): McpSse {
  const streams = createSseStreams(deps);
  const receive = createSseMessages(deps, streams, createHttpRun(deps));
  const passOn = createPassOn(deps);

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
        } else if (endpoint.sse === "stream") streams.open({ request, response, endpoint, principal });
        else {
          const incoming = { request, response, endpoint, principal };
          if (streams.held(streamIdOf(request)) === undefined && passOn(incoming)) return;
          const stream = streams.find(request, endpoint, principal);
          receive({ ...incoming, stream }).catch((error: unknown) => refuse(response, toGatewayError(error)));
        }
      } catch (error) {
        refuse(response, toGatewayError(error));
      }
    },
    held: streams.held,
    expire: streams.expire,
    endWhere: streams.endWhere,
  };
}

/** Has the node of a stream take its messages. False where the URL names no stream of another node. */
function createPassOn({ posts, limits, bodyRoom }: McpHttpDeps): (incoming: Incoming) => boolean {
  return ({ request, response, endpoint, principal }) => {
    const id = streamIdOf(request);
    const elsewhere = posts();
    if (elsewhere?.isThere(id) !== true) return false;
    const bodyLimits = { bytes: limits.requestBodyBytes, room: bodyRoom };
    const left = new AbortController();
    response.once("close", () => left.abort(new GatewayError("CALL_CANCELLED", "the client closed the request")));
    const pass = async (body: Buffer): Promise<void> => {
      const { headers } = request;
      const answer = await elsewhere.pass({ id, path: endpoint.path, principal, headers, body }, left.signal);
      if (answer === undefined) throw unknownStream(endpoint.path);
      response.writeHead(answer.status, [...answer.headers]).end(answer.text, "latin1");
    };
    readBody(request, bodyLimits, principal.user ?? principal.id, (error, body) => {
      if (error !== undefined) refuse(response, error);
      else pass(body).catch((failure: unknown) => refuse(response, toGatewayError(failure)));
    });
    return true;
  };
}

export interface SseMessagesDeps extends BatchDeps {
  readonly clock: Clock;
  readonly startupWait: StartupWait;
  readonly bodyRoom: BodyRoom;
  readonly tap: MessageTap;
}

/** A POST of HTTP+SSE: the answer to its message goes to the client's event stream. */
export interface SseIncoming extends Incoming {
  readonly stream: SseStream;
}

/** Takes one POST: accepted with 202, or refused. Rejects with RATE_LIMITED when too many of the client's wait. */
export type SseMessages = (incoming: SseIncoming) => Promise<void>;

/** The only revision of which HTTP+SSE is the transport: what a client is taken for before it has said. */
const assumedRevision = "2024-11-05";
const streamOnly = { stream: true, json: false } as const;

function createSseMessages(deps: SseMessagesDeps, streams: SseStreams, { admit, run }: HttpRun): SseMessages {
  const bodyLimits = { bytes: deps.limits.requestBodyBytes, room: deps.bodyRoom };

  function receive(incoming: SseIncoming, body: Buffer): void {
    const { request, response, endpoint, principal } = incoming;
    try {
      // Looked for once more, because it may have ended while the body was on its way.
      const stream = streams.find(request, endpoint, principal);
      deps.tap.take?.(peerOfStream(stream), "in", body);
      const caller = toCaller(incoming, stream);
      if (isBatch(body)) {
        const replies = { send: (message: string) => sent(stream, message) };
        void answerBatch(body, caller, deps, replies).then((reply) => {
          if (reply !== undefined) stream.send(reply);
        });
        accept(response);
      } else if (receiveMessage(incoming, body, caller)) accept(response);
    } catch (error) {
      refuse(response, toGatewayError(error));
    }
  }

  /** False when the message was refused. */
  function receiveMessage(incoming: SseIncoming, body: Buffer, caller: Caller): boolean {
    const message = readClientMessage(body, deps.limits.jsonDepth);
    if (message.kind !== "request") {
      deps.legacy.receive(message, caller.session);
      return true;
    }
    if (message.method === "initialize") return initialize(incoming, message);
    return run(incoming, message, caller, streamOnly);
  }

  /** False when the request was refused. */
  function initialize({ response, endpoint, principal, stream }: SseIncoming, message: ClientRequest): boolean {
    if (stream.session !== undefined)
      throw new MessageError("REQUEST_INVALID", "this event stream has been initialized already", message.idText);
    const leave = admit(response, message, () => deps.admission.admit(principal));
    if (leave === undefined) return false;
    leave();
    const { reply, session } = deps.legacy.initialize(message, principal, endpoint);
    stream.session = session;
    session?.pushes.attachLine(stream.send);
    stream.send(answerText(message.idText, joinText(reply.body)));
    return true;
  }

  return async (incoming) => {
    const { request, response, endpoint, principal, stream } = incoming;
    stream.lastUseMs = deps.clock.monotonic();
    // The body is not read while the client has much left to read itself.
    await stream.room();
    readBody(request, bodyLimits, principal.user ?? principal.id, (error, body) => {
      const known = error === undefined ? deps.startupWait(endpoint, principal) : undefined;
      if (error !== undefined) refuse(response, error);
      else if (known === undefined) receive(incoming, body);
      else void known.then(() => receive(incoming, body));
    });
  };
}

function toCaller({ endpoint, principal, request }: SseIncoming, { session }: SseStream): Caller {
  const revision = session?.revision ?? assumedRevision;
  const capabilities = session?.capabilities ?? {};
  return {
    principal: session?.principal ?? principal,
    endpoint,
    client: { era: "legacy", revision, capabilities, name: session?.clientName },
    via: "sse",
    session,
    trace: traceContextOf(request.headers),
  };
}

function sent(stream: SseStream, message: string): boolean {
  if (!stream.closed) stream.send(message);
  return !stream.closed;
}

function accept(response: ServerResponse): void {
  response.writeHead(202).end();
}
