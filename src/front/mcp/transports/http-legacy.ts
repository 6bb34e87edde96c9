import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { traceContextOf } from "../../../kernel/runtime/tracing.ts";
import type { MessageTap } from "../../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import type { ClientMessage, ClientRequest } from "../../../wire/mcp/client-message.ts";
import { assumedRevision } from "../../../wire/mcp/revisions.ts";
import { readAccept, createAnswerChannel, keepAliveMs } from "../streams/answer-channel.ts";
import { answerBatch, type BatchDeps } from "./batch.ts";
import type { Caller } from "../caller.ts";
import { toTap, type HttpRun, type Incoming } from "./http-run.ts";
import { refuse, sendReply, sendReplyEvent } from "../answers/replies.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionStore } from "../sessions/session-store.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerText } from "../../../wire/mcp/envelope.ts";
import { joinText } from "../answers/result-text.ts";
import { peerOfSession } from "../caller.ts";
import { eventStreamHeaders, keepAliveText } from "../../../wire/sse/event-text.ts";

export interface LegacyHttpDeps extends BatchDeps {
  readonly sessions: SessionStore;
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
}

/** The legacy era over Streamable HTTP (2025-11-25, transports): sessions, named by a header, and their streams. */
export interface LegacyHttp {
  /** Takes one message of a POST. Throws SESSION_UNKNOWN. */
  receive(incoming: Incoming, message: ClientMessage): void;
  /** Takes a POST of several messages. Throws REQUEST_INVALID, PARSE_ERROR, SESSION_UNKNOWN. */
  receiveBatch(incoming: Incoming, body: Buffer): void;
  /** Answers GET, which opens a session's stream, and DELETE, which ends the session. Never throws. */
  withSession(incoming: Incoming): void;
}

export function createLegacyHttp(deps: LegacyHttpDeps, { run, admit }: HttpRun): LegacyHttp {
  /** The session that the request names. Throws SESSION_UNKNOWN (404), on which clients initialize again. */
  function findSession({ request, endpoint, principal }: Incoming): Session | undefined {
    const id = request.headers["mcp-session-id"];
    if (id === undefined) return undefined;
    const session = typeof id === "string" ? deps.sessions.find(id, principal, endpoint.path) : undefined;
    if (session === undefined) throw new GatewayError("SESSION_UNKNOWN", "there is no such session at this endpoint");
    return session;
  }

  function initialize(incoming: Incoming, message: ClientRequest): void {
    const { request, response, endpoint, principal } = incoming;
    const leave = admit(response, message, () => deps.admission.admit(principal));
    if (leave === undefined) return;
    leave();
    const { reply, session } = deps.legacy.initialize(message, principal, endpoint);
    const send = readAccept(request).json ? sendReply : sendReplyEvent;
    send(response, message.idText, reply, session === undefined ? [] : ["Mcp-Session-Id", session.id]);
    toTap(deps.tap, incoming)?.(answerText(message.idText, joinText(reply.body)));
  }

  return {
    receive(incoming, message) {
      const { request, response } = incoming;
      // Opens a session of its own, whatever session a client still names that lost it.
      if (message.kind === "request" && message.method === "initialize") {
        initialize(incoming, message);
        return;
      }
      const session = findSession(incoming);
      if (message.kind !== "request") {
        deps.legacy.receive(message, session);
        response.writeHead(202).end();
        return;
      }
      const header = request.headers["mcp-protocol-version"];
      const revision = session?.revision ?? (typeof header === "string" ? header : assumedRevision);
      run(incoming, message, toCaller(incoming, session, revision), readAccept(request));
    },
    receiveBatch(incoming, body) {
      const { request, response } = incoming;
      const session = findSession(incoming);
      // Nothing is assumed here: a batch has to name its revision.
      const revision = session?.revision ?? String(request.headers["mcp-protocol-version"]);
      const channel = createAnswerChannel(response, {
        idText: undefined,
        accepts: readAccept(request),
        resumable: session?.streams,
        memory: deps.memory,
        onGone: () => undefined,
        onMessage: toTap(deps.tap, incoming),
      });
      void answerBatch(body, toCaller(incoming, session, revision), deps, channel).then((reply) => {
        if (reply === undefined) response.writeHead(202).end();
        else channel.finish(reply);
      });
    },
    withSession(incoming) {
      const { request, response } = incoming;
      try {
        const session = findSession(incoming);
        if (session === undefined)
          throw new GatewayError(
            "HTTP_METHOD_UNSUPPORTED",
            `${String(request.method)} needs an Mcp-Session-Id: without a session only POST is served`,
          );
        if (request.method === "DELETE") {
          deps.sessions.end(session, "the client ended the session");
          response.writeHead(204).end();
        } else openStream(deps, incoming, session);
      } catch (error) {
        const failure = toGatewayError(error);
        refuse(response, failure, failure.code === "HTTP_METHOD_UNSUPPORTED" ? ["Allow", "POST"] : []);
      }
    },
  };
}

function openStream(deps: LegacyHttpDeps, { request, response, principal }: Incoming, session: Session): void {
  if (!readAccept(request).stream)
    throw new GatewayError("NOT_ACCEPTABLE", "this stream needs Accept: text/event-stream");
  response.once("close", deps.admission.openStream(principal));
  // A session is idle from when its stream broke off, not from when it was opened.
  openSessionStream(session, request, response, {
    onClose: () => deps.sessions.touch(session),
    onMessage: (message) => deps.tap.take?.(peerOfSession(session), "out", message),
  });
}

function toCaller({ endpoint, principal, request }: Incoming, session: Session | undefined, revision: string): Caller {
  const capabilities = session?.capabilities ?? {};
  return {
    principal: session?.principal ?? principal,
    endpoint,
    client: { era: "legacy", revision, capabilities, name: session?.clientName },
    via: "http",
    session,
    trace: traceContextOf(request.headers),
  };
}

/** Bytes that may wait for a client that came back and reads slowly: more than one log keeps. */
const mostWaitingBytes = 8 * 1024 * 1024;

interface SessionStreamEvents {
  /** Runs when the stream ends. */
  readonly onClose: () => void;
  readonly onMessage?: (message: string) => void;
}

/**
 * Answers a GET with an event stream (2025-11-25, transports): the session's push channel, or, with Last-Event-ID,
 * the rest of a stream that broke off.
 */
export function openSessionStream(
  session: Session,
  request: IncomingMessage,
  response: ServerResponse,
  { onClose, onMessage }: SessionStreamEvents,
): void {
  response.writeHead(200, [...eventStreamHeaders]);
  response.flushHeaders();
  const keepAlive = setInterval(() => response.write(keepAliveText), keepAliveMs);
  keepAlive.unref();
  response.on("close", () => {
    clearInterval(keepAlive);
    onClose();
  });
  const last = request.headers["last-event-id"];
  const place = typeof last === "string" ? session.streams.find(last) : undefined;
  if (place === undefined) {
    session.pushes.attachStream(response, onMessage);
    return;
  }
  const onEvent = (text: string): void => {
    if (response.writableLength > mostWaitingBytes) response.destroy();
    else response.write(text, "latin1");
  };
  const leave = place.log.follow(place.number, { onEvent, onEnd: () => response.end() });
  response.on("close", leave);
}
