import { randomUUID } from "node:crypto";
import type { ClientTraits, ConnectedClient } from "../../../kernel/call/call-context.ts";
import { createPresence, programOf, readClientName } from "../../../kernel/client-presence.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { MessageTap, TapPeer } from "../../../kernel/events/message-tap.ts";
import type { Profiles } from "../../../engine/policy/profiles.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { readClientMessage, type ClientRequest } from "../../../wire/mcp/client-message.ts";
import { answerText } from "../../../wire/mcp/envelope.ts";
import { failureText } from "../../../wire/mcp/error-object.ts";
import { eraOfRevision, modernRevision, newestLegacyRevision } from "../../../wire/mcp/revisions.ts";
import type { Admission } from "../../http/guards/admission.ts";
import { createCancellableRequests } from "../running/cancellable-requests.ts";
import type { Caller } from "../caller.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { LegacyRequests } from "../sessions/legacy.ts";
import { createLineChannel, createSubscriptionChannel, type SendLine } from "./line-channel.ts";
import type { ListenRequests } from "../listen/listen.ts";
import { checkEnvelope, claimedRevision, clientInfoOf } from "../sessions/modern.ts";
import type { LongWaits } from "../endpoint/long-waits.ts";
import type { RequestRunner } from "../endpoint/request-run.ts";
import { joinText } from "../answers/result-text.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionStore } from "../sessions/session-store.ts";
import { toWireError } from "../answers/wire-error.ts";

export interface StdioClientDeps {
  readonly runner: RequestRunner;
  readonly waits: LongWaits;
  readonly legacy: LegacyRequests;
  readonly listen: ListenRequests;
  readonly sessions: SessionStore;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly tap: MessageTap;
  /** A profile may be a client's by its name. */
  readonly ofClient: Profiles["ofClient"];
}

export interface StdioClientOptions {
  readonly principal: Principal;
  readonly endpoint: Endpoint;
  readonly jsonDepth: number;
  readonly send: SendLine;
}

/** The client at the other end of a pair of streams. It may change its era with every request. */
export interface StdioClient {
  /** Takes one message. Never throws. */
  receive(line: Buffer): void;
  /** `run` is called whenever no request waits for its answer. Subscriptions, which last, do not count. */
  whenAnswered(run: () => void): void;
  /** Ends all that belongs to the client. */
  end(): void;
}

const gone = "the client has disconnected";

export function createStdioClient(deps: StdioClientDeps, options: StdioClientOptions): StdioClient {
  const { principal, endpoint } = options;
  const from = { principal, endpoint, ofClient: deps.ofClient };
  const presence = createPresence(programOf(principal, "streams", undefined), deps.clock.monotonic());
  const ended = new AbortController();
  /** A client that does not initialize: it can be asked on its calls alone. */
  const connected: ConnectedClient = { id: randomUUID(), ended: ended.signal, presence };
  /** Its requests outside of a session. */
  const sessionless = createCancellableRequests();
  /** Made by `initialize`; another one replaces it. */
  let session: Session | undefined;
  const unanswered = createUnansweredCount();
  const send = tapSend(deps.tap, options.send, () => peerOf(options, connected, session));

  function initialize(message: ClientRequest): void {
    if (session !== undefined) deps.sessions.end(session, "the client initialized again");
    const started = deps.legacy.initialize(message, principal, endpoint);
    session = started.session;
    session?.pushes.attachLine(send);
    send(answerText(message.idText, joinText(started.reply.body)));
  }

  function begin(message: ClientRequest): void {
    const isModern = saysModern(message);
    if (!isModern && message.method === "initialize") return initialize(message);
    const controller = new AbortController();
    const requests = isModern ? sessionless : (session?.requests ?? sessionless);
    requests.add(message.id, controller);
    const isListening = isModern && message.method === "subscriptions/listen";
    const work = isListening ? listen(message, controller.signal) : answer(message, isModern, controller.signal);
    void work
      .catch((error: unknown) => {
        const reply = toWireError(toGatewayError(error), isModern ? "modern" : "legacy", message.method);
        send(answerText(message.idText, joinText(reply.body)));
      })
      .finally(() => requests.delete(message.id, controller));
  }

  async function answer(message: ClientRequest, isModern: boolean, signal: AbortSignal): Promise<void> {
    const caller = isModern ? toModernCaller(from, message, connected) : toLegacyCaller(options, session);
    const channel = createLineChannel(message.idText, send);
    const leave = deps.admission.admit(principal);
    const wait = deps.waits.begin(channel, message.params);
    unanswered.enter();
    try {
      const own = isModern ? undefined : deps.legacy.answer(message, caller, signal);
      const reply = await (own ?? deps.runner.run(message, caller, wait, signal));
      // A cancelled request gets no answer (2025-11-25, cancellation).
      if (!signal.aborted) channel.finish(reply.body);
    } finally {
      deps.waits.end(wait);
      leave();
      unanswered.leave();
    }
  }

  /** Resolves when the client has cancelled the subscription, or has disconnected. */
  async function listen(message: ClientRequest, signal: AbortSignal): Promise<void> {
    deps.listen.open(message, toModernCaller(from, message, connected), (onGone) => {
      signal.addEventListener("abort", onGone, { once: true });
      return createSubscriptionChannel(message, signal, send);
    });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  return {
    receive(line) {
      deps.tap.take?.(peerOf(options, connected, session), "in", line);
      try {
        const message = readClientMessage(line, options.jsonDepth);
        if (message.kind === "request") begin(message);
        else {
          if (message.kind === "notification" && message.method === "notifications/cancelled")
            sessionless.cancel(message.params);
          deps.legacy.receive(message, session);
        }
      } catch (error) {
        send(failureText(toGatewayError(error)));
      }
    },
    whenAnswered: unanswered.whenNone,
    end() {
      presence.state = "gone";
      // First those that can still be told: the gateway may end while the client reads on.
      deps.listen.endWhere((_principal, client) => client === connected);
      sessionless.cancelAll(gone);
      if (session !== undefined) deps.sessions.end(session, gone);
      ended.abort(new GatewayError("CALL_CANCELLED", gone));
    },
  };
}

/** The client, as those know it who look at messages. */
function peerOf(
  { principal }: Pick<StdioClientOptions, "principal">,
  { id }: ConnectedClient,
  session: Session | undefined,
): TapPeer {
  return { side: "client", key: id, name: session?.clientName, principal: principal.id };
}

function tapSend(tap: MessageTap, send: SendLine, peer: () => TapPeer): SendLine {
  return (message) => {
    tap.take?.(peer(), "out", message);
    send(message);
  };
}

function saysModern({ params }: ClientRequest): boolean {
  const claimed = claimedRevision(params);
  return typeof claimed === "string" && eraOfRevision(claimed) === "modern";
}

type From = Pick<StdioClientOptions, "principal" | "endpoint">;
type ModernFrom = From & Pick<StdioClientDeps, "ofClient">;

/** Throws for a mistake in the request's envelope. */
function toModernCaller(
  { principal: asking, endpoint, ofClient }: ModernFrom,
  message: ClientRequest,
  connected: ConnectedClient,
): Caller {
  const capabilities = checkEnvelope(message, undefined);
  const info = clientInfoOf(message.params);
  const client: ClientTraits = { era: "modern", revision: modernRevision, capabilities, info };
  const principal = ofClient(asking, readClientName(info));
  return { principal, endpoint, client, via: "stdio", session: undefined, connected };
}

function toLegacyCaller({ principal, endpoint }: From, session: Session | undefined): Caller {
  const revision = session?.revision ?? newestLegacyRevision;
  const capabilities = session?.capabilities ?? {};
  return {
    principal: session?.principal ?? principal,
    endpoint,
    client: { era: "legacy", revision, capabilities, name: session?.clientName },
    via: "stdio",
    session,
  };
}

/** How many requests of one client wait for their answers: the connection is closed only after these. */
export interface UnansweredCount {
  enter(): void;
  leave(): void;
  /** `run` is called whenever none waits: at once, perhaps, and each time that the last one has been answered. */
  whenNone(run: () => void): void;
}

export function createUnansweredCount(): UnansweredCount {
  let count = 0;
  let onNone: (() => void) | undefined;
  return {
    enter() {
      count += 1;
    },
    leave() {
      count -= 1;
      if (count === 0) onNone?.();
    },
    whenNone(run) {
      onNone = run;
      if (count === 0) run();
    },
  };
}
