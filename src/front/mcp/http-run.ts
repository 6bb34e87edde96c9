import type { IncomingMessage, ServerResponse } from "node:http";
import { createAbortPool } from "../../kernel/abort.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Admission } from "../http/admission.ts";
import type { Accepts } from "./accept.ts";
import { createAnswerChannel, type AnswerChannel } from "./answer-channel.ts";
import type { Caller } from "./caller.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LegacyRequests } from "./legacy.ts";
import type { ClientRequest } from "../../wire/mcp/client-message.ts";
import { refuse } from "./replies.ts";
import type { RequestRunner } from "./request-run.ts";
import { textLength } from "./result-text.ts";
import type { RunningRequest, RunningRequests } from "./running-requests.ts";
import { track, untrack, type Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";
import type { SseStream } from "./sse-stream.ts";

/** One HTTP request to an MCP endpoint. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  /** Where the answer goes in HTTP+SSE (2024-11-05); everywhere else it is the response. */
  readonly stream?: SseStream;
}

export interface HttpRunDeps {
  readonly runner: RequestRunner;
  readonly legacy: LegacyRequests;
  readonly sessions: SessionStore;
  readonly memory: LargeBuffers;
  readonly admission: Admission;
  readonly running: RunningRequests;
}

/** A request over HTTP, from admission to its answer. */
export interface HttpRun {
  /** Begins to work on a request; false when it was one too many, which it is told a little later. */
  run(
    incoming: Incoming,
    message: ClientRequest,
    caller: Caller,
    accepts: Accepts,
    session: Session | undefined,
  ): boolean;
  /** Counts a request or a stream; undefined when it was one too many, which it is told a little later. */
  admit<T>(response: ServerResponse, message: ClientRequest, count: () => T): T | undefined;
  openChannel(
    response: ServerResponse,
    message: ClientRequest,
    accepts: Accepts,
    session: Session | undefined,
    onGone: () => void,
  ): AnswerChannel;
}

/** Bytes that may wait for a client that reads slowly, per stream. */
const streamBufferBytes = 8 * 1024 * 1024;
/** Comments on streams: often enough for every proxy, and to notice within a minute that nobody is there. */
export const keepAliveMs = 15_000;
/**
 * How long who was too fast waits for his refusal, at least and at most: not all of his connections the same time, or
 * they come back together.
 */
const refusalDelayMs = [50, 200] as const;
/** As many as requests are usually worked on at once. */
const idleControllers = 256;

export function createHttpRun(deps: HttpRunDeps): HttpRun {
  const controllers = createAbortPool(idleControllers);

  function run(
    incoming: Incoming,
    message: ClientRequest,
    caller: Caller,
    accepts: Accepts,
    session: Session | undefined,
  ): boolean {
    const { response, stream } = incoming;
    const leave = admit(response, message, () => deps.admission.admit(caller.principal));
    if (leave === undefined) return false;
    const controller = controllers.take();
    const onGone = (): void => {
      // A dropped POST of a live session is no cancellation: the client may come back for the answer.
      if (session === undefined || stream !== undefined)
        controller.abort(new GatewayError("CALL_CANCELLED", "the client closed the request"));
    };
    const channel =
      stream === undefined
        ? openChannel(response, message, accepts, session, onGone)
        : stream.openChannel(message.idText, controller.signal, onGone);
    if (session !== undefined) track(session, message.id, controller);
    const answering =
      caller.client.era === "legacy"
        ? (deps.legacy.answer(message, caller, channel, controller.signal) ??
          deps.runner.run(message, caller, channel, controller.signal))
        : deps.runner.run(message, caller, channel, controller.signal);
    const entry: RunningRequest = {
      id: deps.running.nextId(),
      principal: caller.principal,
      era: caller.client.era,
      method: message.method,
      channel,
      controller,
    };
    deps.running.add(entry);
    void answering.then((reply) => {
      leave(textLength(reply.body));
      deps.running.delete(entry);
      if (session !== undefined) {
        untrack(session, message.id, controller);
        deps.sessions.touch(session);
      }
      channel.finish(reply.body, reply.status);
      controllers.give(controller);
    });
    return true;
  }

  function admit<T>(response: ServerResponse, message: ClientRequest, count: () => T): T | undefined {
    try {
      return count();
    } catch (error) {
      const failure = toGatewayError(error);
      // Who asks again at once would otherwise be refused ten thousand times a second, which the others would feel.
      const [least, most] = refusalDelayMs;
      setTimeout(() => refuse(response, failure, [], message.idText), least + Math.random() * (most - least));
      return undefined;
    }
  }

  function openChannel(
    response: ServerResponse,
    message: ClientRequest,
    accepts: Accepts,
    session: Session | undefined,
    onGone: () => void,
  ): AnswerChannel {
    return createAnswerChannel(response, {
      idText: message.idText,
      acceptsStream: accepts.stream,
      acceptsJson: accepts.json,
      headers: [],
      openLog: session === undefined ? undefined : () => session.openLog(),
      bufferBytes: streamBufferBytes,
      keepAliveMs,
      memory: deps.memory,
      onGone,
    });
  }

  return { run, admit, openChannel };
}
