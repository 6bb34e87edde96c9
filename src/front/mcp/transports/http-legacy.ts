import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { traceContextOf } from "../../../kernel/runtime/tracing.ts";
import type { MessageTap } from "../../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import type { ClientMessage, ClientRequest } from "../../../wire/mcp/client-message.ts";
import { assumedRevision } from "../../../wire/mcp/revisions.ts";
import { readAccept, createAnswerChannel, keepAliveMs } from "../streams/answer-channel.ts";
import { answerBatch, type BatchDeps } from "./batch.ts";
import type { Caller } from "../caller.ts";
import type { ResumedElsewhere } from "../streams/resumed-elsewhere.ts";
import { toTap, type HttpRun, type Incoming } from "./http-run.ts";
import { refuse, sendReply, sendReplyEvent } from "../answers/replies.ts";
import type { Session } from "../sessions/session.ts";
import type { StartupWait } from "../endpoint/endpoint.ts";
import type { Presence } from "../../../people/identity/session-validity.ts";
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
  readonly presence: Presence;
  readonly startupWait: StartupWait;
  /** Streams of other nodes; undefined where there are none. */
  readonly resumed: () => ResumedElsewhere | undefined;
}

/** Does the work, and answers the request with the failure where it throws. */
export type Attempt = (incoming: Incoming, work: () => void) => void;

/** The legacy era over Streamable HTTP (2025-11-25, transports): sessions, named by a header, and their streams. */
export interface LegacyHttp {
  /** Takes one message of a POST. Throws SESSION_UNKNOWN; one that is found out later is sent as the answer. */
  receive(incoming: Incoming, message: ClientMessage): void;
  /** Takes a POST of several messages. Throws REQUEST_INVALID, PARSE_ERROR, SESSION_UNKNOWN. */
  receiveBatch(incoming: Incoming, body: Buffer): void;
  /** Answers GET, which opens a session's stream, and DELETE, which ends the session. Never throws. */
  withSession(incoming: Incoming): void;
}

export function createLegacyHttp(deps: LegacyHttpDeps, { run, admit }: HttpRun, attempt: Attempt): LegacyHttp {
  const { held, fromElsewhere } = createSessionFinder(deps, attempt);

  function receive(incoming: Incoming, message: ClientMessage, session: Session | undefined): void {
    const { request, response } = incoming;
    if (message.kind !== "request") {
      deps.legacy.receive(message, session);
      response.writeHead(202).end();
      return;
    }
    const header = request.headers["mcp-protocol-version"];
    const revision = session?.revision ?? (typeof header === "string" ? header : assumedRevision);
    run(incoming, message, toCaller(incoming, session, revision), readAccept(request));
  }

  function receiveBatch(incoming: Incoming, body: Buffer, session: Session | undefined): void {
    const { request, response } = incoming;
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
  }

  function initialize(incoming: Incoming, message: ClientRequest): void {
    const { request, response, endpoint, principal } = incoming;
    const leave = admit(response, message, () => deps.admission.admit(principal));
    if (leave === undefined) return;
    leave();
    const { reply, session } = deps.legacy.initialize(message, principal, endpoint, true);
    const send = readAccept(request).json ? sendReply : sendReplyEvent;
    send(response, message.idText, reply, session === undefined ? [] : ["Mcp-Session-Id", session.id]);
    toTap(deps.tap, incoming)?.(answerText(message.idText, joinText(reply.body)));
  }

  function serveSession(incoming: Incoming, session: Session | undefined): void {
    const { request, response } = incoming;
    if (session === undefined) {
      const message = `${String(request.method)} needs an Mcp-Session-Id: without a session only POST is served`;
      refuse(response, new GatewayError("HTTP_METHOD_UNSUPPORTED", message), ["Allow", "POST"]);
    } else if (request.method === "DELETE") {
      deps.legacy.end(session);
      response.writeHead(204).end();
    } else openStream(deps, incoming, session);
  }

  return {
    receive(incoming, message) {
      // Opens a session of its own, whatever session a client still names that lost it.
      if (message.kind === "request" && message.method === "initialize") {
        initialize(incoming, message);
        return;
      }
      const session = held(incoming);
      if (session === null) fromElsewhere(incoming, (found) => receive(incoming, message, found));
      else receive(incoming, message, session);
    },
    receiveBatch(incoming, body) {
      const session = held(incoming);
      if (session === null) fromElsewhere(incoming, (found) => receiveBatch(incoming, body, found));
      else receiveBatch(incoming, body, session);
    },
    withSession(incoming) {
      attempt(incoming, () => {
        const session = held(incoming);
        if (session === null) fromElsewhere(incoming, (found) => serveSession(incoming, found));
        else serveSession(incoming, session);
      });
    },
  };
}

/** Sessions as requests name them: those that are held here, and those of other gateways. */
function createSessionFinder(deps: LegacyHttpDeps, attempt: Attempt) {
  /** Undefined where the request names no session, and null where it names one that is not held here. */
  function held({ request, endpoint, principal }: Incoming): Session | undefined | null {
    const id = request.headers["mcp-session-id"];
    if (id === undefined) return undefined;
    return (typeof id === "string" ? deps.sessions.find(id, principal, endpoint.path) : undefined) ?? null;
  }

  /**
   * Goes on when a session that began at another gateway is made again here. Throws SESSION_UNKNOWN (404), on which
   * clients initialize again.
   */
  function fromElsewhere(incoming: Incoming, work: (session: Session) => void): void {
    const { request, endpoint, principal } = incoming;
    const known = incoming.known ?? deps.startupWait(endpoint, principal);
    const coming = deps.legacy.again(String(request.headers["mcp-session-id"]), principal, endpoint, known);
    if (coming === undefined) throw unknownSession();
    const since = deps.presence.losses;
    coming.then(
      (session) =>
        attempt(incoming, () => {
          if (session === undefined) throw unknownSession();
          deps.presence.require(principal, since);
          work(session);
        }),
      (error: unknown) =>
        attempt(incoming, () => {
          throw error;
        }),
    );
  }

  return { held, fromElsewhere };
}

function unknownSession(): GatewayError {
  return new GatewayError("SESSION_UNKNOWN", "there is no such session at this endpoint");
}

function openStream(deps: LegacyHttpDeps, { request, response, principal }: Incoming, session: Session): void {
  if (!readAccept(request).stream)
    throw new GatewayError("NOT_ACCEPTABLE", "this stream needs Accept: text/event-stream");
  response.once("close", deps.admission.openStream(principal));
  // A session is idle from when its stream broke off, not from when it was opened.
  openSessionStream(session, request, response, {
    onClose: () => deps.sessions.touch(session),
    onMessage: (message) => deps.tap.take?.(peerOfSession(session), "out", message),
    resumed: deps.resumed(),
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
  /** Streams of other nodes. */
  readonly resumed?: ResumedElsewhere | undefined;
}

/**
 * Answers a GET with an event stream (2025-11-25, transports): the session's push channel, or, with Last-Event-ID,
 * the rest of a stream that broke off.
 */
export function openSessionStream(
  session: Session,
  request: IncomingMessage,
  response: ServerResponse,
  { onClose, onMessage, resumed }: SessionStreamEvents,
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
  const onEvent = (text: string): void => {
    if (response.writableLength > mostWaitingBytes) response.destroy();
    else response.write(text, "latin1");
  };
  const listener = { onEvent, onEnd: () => void response.end() };
  const leave =
    place === undefined && typeof last === "string"
      ? resumed?.follow(session, last, listener)
      : place?.log.follow(place.number, listener);
  if (leave === undefined) session.pushes.attachStream(response, onMessage);
  else response.on("close", leave);
}
