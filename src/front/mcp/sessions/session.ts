import { randomUUID } from "node:crypto";
import type { ServerTexts } from "../../../catalog/exposure/text/server-texts.ts";
import type { PinnedTools } from "../../../catalog/exposure/exposure.ts";
import type { ClientProfile } from "../../../config/rows/client-profiles.ts";
import type { ConnectedClient } from "../../../kernel/call/call-context.ts";
import { createPresence, programOf, type OwnPresence } from "../../../kernel/client-presence.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { createCancellableRequests, type CancellableRequests } from "../running/cancellable-requests.ts";
import { createClientQuestions, questionPrefix, type ClientQuestions } from "./client-questions.ts";
import { createPushChannel, type PushChannel } from "./push-channel.ts";
import { createResumableStreams, type ResumableStreams } from "../streams/event-log.ts";
import { createWatchedResources, type WatchedResources } from "../listen/watched-resources.ts";

/**
 * A legacy client between `initialize` and its end (2025-11-25, basic/lifecycle). What it declared there holds for
 * all of it.
 */
export interface Session {
  readonly id: string;
  readonly principal: Principal;
  /** Where it was made: a session is not valid at another endpoint. */
  readonly endpointPath: string;
  readonly revision: string;
  readonly capabilities: JsonObject;
  /** What the client calls itself; undefined when it does not say. Untrusted. */
  readonly clientName: string | undefined;
  readonly presence: OwnPresence;
  /**
   * The profile of the client's program as it was configured when it initialized: its list of tools stays what it
   * was, whatever is configured later.
   */
  readonly client: ClientProfile | undefined;
  /** What it was told of the servers: its list of tools says the same for as long as it lasts. */
  readonly told: ServerTexts | undefined;
  /** The tools beside the four, as they were first listed: they stay what they were. */
  pinned: PinnedTools | undefined;
  /** The client as servers with an instance per client know it. */
  readonly connected: ConnectedClient;
  /** Whether the client has sent `notifications/initialized`: nothing is asked of it before. */
  isInitialized: boolean;
  logLevel: string | undefined;
  lastUseMs: number;
  readonly requests: CancellableRequests;
  readonly questions: ClientQuestions;
  readonly pushes: PushChannel;
  readonly streams: ResumableStreams;
  readonly watched: WatchedResources;
  /** Runs when the client says that its roots changed. */
  onRootsChanged: ((params: JsonObject) => void) | undefined;
  /** Runs when the session ends: whatever else belongs to it ends with it. */
  onClose: (() => void) | undefined;
  close(reason: string): void;
}

export interface SessionOptions {
  readonly principal: Principal;
  readonly endpointPath: string;
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly clientName?: string | undefined;
  readonly client?: ClientProfile | undefined;
  readonly told?: ServerTexts | undefined;
  /** Where the session can be made again at another gateway: what it has there as well. */
  readonly sealed?: SealedIds | undefined;
  /** This node of a cluster. */
  readonly node?: string | undefined;
  readonly nowMs: number;
}

/** The id that its client names, and that of its connection. */
export interface SealedIds {
  readonly id: string;
  readonly connectedId: string;
}

export function createSession(options: SessionOptions): Session {
  const { nowMs, clientName, sealed } = options;
  const presence = createPresence(programOf(options.principal, "session", clientName), nowMs);
  const pushes = createPushChannel();
  const questions = createClientQuestions({
    push: pushes.send,
    isPushOpen: () => pushes.open,
    // Of a client that several gateways ask, each has to know its own answers.
    name: sealed === undefined ? questionPrefix : `${questionPrefix}-${randomUUID().slice(0, 8)}`,
  });
  const ended = new AbortController();
  let closed = false;

  const session: Session = {
    id: sealed?.id ?? randomUUID(),
    principal: options.principal,
    endpointPath: options.endpointPath,
    revision: options.revision,
    capabilities: options.capabilities,
    clientName,
    presence,
    client: options.client,
    told: options.told,
    pinned: undefined,
    connected: {
      // Not the session's own id: a request with that one is taken for the client's.
      id: sealed?.connectedId ?? randomUUID(),
      ended: ended.signal,
      presence,
      ask: async (question, signal) => await questions.ask(question, () => false, signal),
    },
    isInitialized: false,
    logLevel: undefined,
    lastUseMs: nowMs,
    requests: createCancellableRequests(),
    questions,
    pushes,
    streams: createResumableStreams(options.revision, options.node),
    watched: createWatchedResources(),
    onRootsChanged: undefined,
    onClose: undefined,
    close(reason) {
      if (closed) return;
      closed = true;
      questions.close();
      if (presence.state === "open") presence.state = "gone";
      session.requests.cancelAll(reason);
      session.watched.releaseAll();
      session.onClose?.();
      ended.abort(new GatewayError("CALL_CANCELLED", reason));
      pushes.end();
    },
  };
  return session;
}
