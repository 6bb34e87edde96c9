import type { IncomingMessage, ServerResponse } from "node:http";
import { abortReason, createAbortPool } from "../../../kernel/runtime/abort.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { MessageTap, TapPeer } from "../../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { Admission } from "../../http/guards/admission.ts";
import { toStepUp } from "../../http/challenge.ts";
import type { PublicUrl } from "../../http/public-url.ts";
import { type Accepts, createAnswerChannel } from "../streams/answer-channel.ts";
import type { Caller, ReplyBody } from "../caller.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { LegacyRequests } from "../sessions/legacy.ts";
import type { LongWaits } from "../endpoint/long-waits.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import { refuse } from "../answers/replies.ts";
import type { RequestRunner } from "../endpoint/request-run.ts";
import { textLength, type WireText } from "../answers/result-text.ts";
import type { RunningRequest, RunningRequests } from "../running/running-requests.ts";
import type { SessionStore } from "../sessions/session-store.ts";
import type { SseStream } from "./sse-stream.ts";
import { toWireError } from "../answers/wire-error.ts";

/** One HTTP request to an MCP endpoint. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  /** What has to be waited for before anything can be said of the servers behind the endpoint. */
  readonly known?: Promise<void> | undefined;
  /** Where the answer goes in HTTP+SSE (2024-11-05); everywhere else it is the response. */
  readonly stream?: SseStream;
  /** Who speaks here, while messages are looked at. */
  readonly peer?: TapPeer | undefined;
}

export interface HttpRunDeps {
  readonly runner: RequestRunner;
  readonly waits: LongWaits;
  readonly legacy: LegacyRequests;
  readonly sessions: SessionStore;
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
  readonly admission: Admission;
  readonly running: RunningRequests;
  readonly publicUrl: PublicUrl;
}

/** A request over HTTP, from admission to its answer. */
export interface HttpRun {
  /** Begins to work on a request. False when its principal has too many already: the refusal is sent a little later. */
  run(incoming: Incoming, message: ClientRequest, caller: Caller, accepts: Accepts): boolean;
  /**
   * Counts a request or a stream with `count`, and returns what ends it. Undefined when its principal has too many
   * already: the refusal is sent a little later.
   */
  admit<T>(response: ServerResponse, message: ClientRequest, count: () => T): T | undefined;
}

/**
 * How long a client that was too fast waits for its refusal, at least and at most. The time is random, because its
 * connections would otherwise all come back together.
 */
const refusalDelayMs = [50, 200] as const;
/** As many as requests are usually worked on at once. */
const idleControllers = 256;

/** Tells the tap of the answers to a request; undefined while messages are not looked at. */
export function toTap(
  tap: MessageTap,
  { peer }: Pick<Incoming, "peer">,
): ((message: WireText, status?: number) => void) | undefined {
  return peer === undefined ? undefined : (message, status) => tap.take?.(peer, "out", message, status);
}

export function createHttpRun(deps: HttpRunDeps): HttpRun {
  const controllers = createAbortPool(idleControllers);

  function run(incoming: Incoming, message: ClientRequest, caller: Caller, accepts: Accepts): boolean {
    const { response, stream } = incoming;
    const { session, principal } = caller;
    const { era } = caller.client;
    const leave = admit(response, message, () => deps.admission.admit(principal));
    if (leave === undefined) return false;
    const controller = controllers.take();
    const onGone = (): void => {
      // The client of a session may come back for the answer (Last-Event-ID), so that a POST of it that breaks off is
      // no cancellation. In HTTP+SSE no client can come back to a stream.
      if (session === undefined || stream !== undefined)
        controller.abort(new GatewayError("CALL_CANCELLED", "the client closed the request"));
    };
    const channel =
      stream === undefined
        ? createAnswerChannel(response, {
            idText: message.idText,
            accepts,
            resumable: session?.streams,
            memory: deps.memory,
            onGone,
            onMessage: toTap(deps.tap, incoming),
          })
        : stream.openChannel(message.idText, controller.signal, onGone);
    session?.requests.add(message.id, controller);
    const wait = deps.waits.begin(channel, message.params);
    const beginStill = (begin: () => Promise<ReplyBody>): Promise<ReplyBody> | ReplyBody =>
      controller.signal.aborted
        ? toWireError(toGatewayError(abortReason(controller.signal)), era, message.method)
        : begin();
    const begin = (): Promise<ReplyBody> =>
      (era === "legacy" ? deps.legacy.answer(message, caller, controller.signal) : undefined) ??
      deps.runner.run(message, caller, wait, controller.signal);
    const answering = incoming.known === undefined ? begin() : incoming.known.then(() => beginStill(begin));
    const { method } = message;
    const entry: RunningRequest = { id: deps.running.nextId(), principal, era, method, channel, controller };
    deps.running.add(entry);
    void answering.then((reply) => {
      deps.waits.end(wait);
      leave(textLength(reply.body));
      deps.running.delete(entry);
      if (session !== undefined) {
        session.requests.delete(message.id, controller);
        deps.sessions.touch(session);
      }
      if (reply.scope !== undefined) tellScope(incoming, reply.scope);
      channel.finish(reply.body, reply.status);
      controllers.give(controller);
    });
    return true;
  }

  function tellScope({ request, response, endpoint, stream }: Incoming, scope: string): void {
    if (stream !== undefined || response.headersSent) return;
    response.setHeader("WWW-Authenticate", toStepUp(deps.publicUrl(request), endpoint.path, scope));
  }

  function admit<T>(response: ServerResponse, message: ClientRequest, count: () => T): T | undefined {
    try {
      return count();
    } catch (error) {
      const failure = toGatewayError(error);
      // A client that asks again at once could otherwise be refused ten thousand times a second, at the cost of the
      // other clients.
      const [least, most] = refusalDelayMs;
      setTimeout(() => refuse(response, failure, [], message.idText), least + Math.random() * (most - least));
      return undefined;
    }
  }

  return { run, admit };
}
