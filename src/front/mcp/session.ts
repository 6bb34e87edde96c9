import { requestText, writeNotification } from "../../wire/mcp/envelope.ts";
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { ClientProfile } from "../../config/client-profiles.ts";
import { createPresence, programOf, type OwnPresence } from "../../kernel/client-presence.ts";
import type { Answer, ConnectedClient, Question } from "../../kernel/call-context.ts";
import { abortReason } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { JsonObject } from "../../kernel/json-bytes.ts";
import type { Principal } from "../../kernel/principal.ts";
import { eventText } from "../../wire/sse/event-text.ts";
import { createEventLog, parseEventId, type EventLog } from "./event-log.ts";
import { withProgressToken } from "./progress-token.ts";

/**
 * A legacy client between `initialize` and its end (2025-11-25, basic/lifecycle). What it declared there holds for
 * all of it.
 */
export interface Session {
  readonly id: string;
  readonly principal: Principal;
  /** The endpoint that it was made at: a session is not valid at another. */
  readonly endpoint: string;
  readonly revision: string;
  readonly capabilities: JsonObject;
  readonly presence: OwnPresence;
  /**
   * Of its kind of client, as it was when it initialized: its list of tools stays what it was, whatever is configured
   * later.
   */
  readonly client: ClientProfile | undefined;
  /** The client as servers with an instance per client know it. */
  readonly connected: ConnectedClient;
  logLevel: string | undefined;
  lastUseMs: number;
  /**
   * Its requests that are being worked on, by their id: for notifications/cancelled, which may spell it in other
   * escapes.
   */
  readonly running: Map<string | number, Set<AbortController>>;
  /** Uris that it subscribed to, as it wrote them, with the function that ends each. */
  readonly subscriptions: Map<string, () => void>;
  /** The client's spelling of each of those, by instance and the server's own URI. */
  resources: Map<string, string>;
  /** Sends a request to the client with `deliver` and waits for its answer. */
  ask(question: Question, deliver: (message: string) => boolean, signal: AbortSignal): Promise<Answer>;
  /** The client's answer to one of those; false when there is no such request. */
  answer(id: string | number, answer: Answer): boolean;
  /** The client's notifications/progress about one of those. */
  progress(params: JsonObject): void;
  /** Sends on the GET stream, when there is one; otherwise the message is lost, as the revision allows. */
  push(message: string): boolean;
  readonly hasStream: boolean;
  /** Gives the session a GET stream; the one before is ended. */
  attach(stream: ServerResponse): void;
  /** Over stdio and HTTP+SSE there is one channel for everything. */
  attachLine(send: (message: string) => void): void;
  /** A new resumable stream, when the revision has those. */
  openLog(): EventLog | undefined;
  findLog(lastEventId: string): { readonly log: EventLog; readonly number: number } | undefined;
  /** Runs when the client says that its roots changed. */
  onRootsChanged: ((params: JsonObject) => void) | undefined;
  /** Runs when the session ends: whatever else belongs to it ends with it. */
  onClose: (() => void) | undefined;
  close(reason: string): void;
}

/** Streams that are kept to be resumed, per session. */
const keptLogs = 16;
/** After how long a client may come back to a stream that broke off. */
const retryMs = 1_000;
/** Questions that may wait for one client. */
const mostQuestions = 64;
const getBufferBytes = 8 * 1024 * 1024;
/** Revisions whose clients understand an event without data (2025-11-25, transports; SEP-1699). */
const resumableRevisions: ReadonlySet<string> = new Set(["2025-11-25"]);

export function createSession(options: {
  principal: Principal;
  endpoint: string;
  revision: string;
  capabilities: JsonObject;
  clientName?: string | undefined;
  client?: ClientProfile | undefined;
  nowMs: number;
}): Session {
  const presence = createPresence(programOf(options.principal, "session", options.clientName), options.nowMs);
  const questions = new Map<string, { readonly question: Question; readonly settle: (answer: Answer) => void }>();
  const logs = new Map<string, EventLog>();
  let lastQuestion = 0;
  let stream: ServerResponse | undefined;
  let line: ((message: string) => void) | undefined;
  let closed = false;
  const ended = new AbortController();

  const session: Session = {
    id: randomUUID(),
    principal: options.principal,
    endpoint: options.endpoint,
    revision: options.revision,
    capabilities: options.capabilities,
    presence,
    client: options.client,
    // Not the session's own id: whoever knows that is taken for the client.
    connected: {
      id: randomUUID(),
      ended: ended.signal,
      presence,
      ask: async (question, signal) => await session.ask(question, () => false, signal),
    },
    logLevel: undefined,
    lastUseMs: options.nowMs,
    running: new Map(),
    subscriptions: new Map(),
    resources: new Map(),
    onRootsChanged: undefined,
    onClose: undefined,
    async ask(question, deliver, signal) {
      if (closed) throw new GatewayError("CLIENT_CANNOT_ANSWER", "the client's session has ended");
      if (questions.size >= mostQuestions)
        throw new GatewayError("CLIENT_CANNOT_ANSWER", `${mostQuestions} questions wait for this client already`);
      lastQuestion += 1;
      const id = `toolyard-${lastQuestion}`;
      return await new Promise<Answer>((resolve, reject) => {
        const leave = () => {
          questions.delete(id);
          signal.removeEventListener("abort", giveUp);
        };
        const giveUp = () => {
          leave();
          deliver(writeNotification("notifications/cancelled", { requestId: id, reason: "the call has ended" }));
          reject(abortReason(signal));
        };
        const settle = (answer: Answer) => {
          leave();
          resolve(answer);
        };
        questions.set(id, { question, settle });
        signal.addEventListener("abort", giveUp, { once: true });
        const params =
          question.onProgress === undefined
            ? question.params.toString("latin1")
            : withProgressToken(question.params, id);
        const message = requestText(`"${id}"`, question.method, params);
        if (deliver(message) || session.push(message)) return;
        leave();
        reject(
          new GatewayError(
            "CLIENT_CANNOT_ANSWER",
            `${question.method} cannot reach the client: it takes no event stream`,
          ),
        );
      });
    },
    answer(id, answer) {
      const waiting = questions.get(String(id));
      waiting?.settle(answer);
      return waiting !== undefined;
    },
    progress(params) {
      const { progressToken, ...progress } = params;
      if (typeof progressToken === "string") questions.get(progressToken)?.question.onProgress?.(progress);
    },
    push(message) {
      if (line !== undefined) {
        line(message);
        return true;
      }
      if (stream === undefined || stream.destroyed || stream.writableEnded) return false;
      if (stream.writableLength > getBufferBytes) {
        stream.destroy();
        return false;
      }
      stream.write(eventText("message", message), "latin1");
      return true;
    },
    attachLine(send) {
      line = send;
    },
    get hasStream() {
      return line !== undefined || (stream !== undefined && !stream.destroyed && !stream.writableEnded);
    },
    attach(next) {
      stream?.end();
      stream = next;
    },
    openLog() {
      if (!resumableRevisions.has(options.revision)) return undefined;
      const log = createEventLog(randomUUID(), retryMs);
      logs.set(log.id, log);
      for (const id of logs.keys()) {
        if (logs.size <= keptLogs) break;
        logs.delete(id);
      }
      return log;
    },
    findLog(lastEventId) {
      const place = parseEventId(lastEventId);
      const log = place === undefined ? undefined : logs.get(place.stream);
      return log === undefined || place === undefined ? undefined : { log, number: place.number };
    },
    close(reason) {
      if (closed) return;
      closed = true;
      if (session.presence.state === "open") session.presence.state = "gone";
      for (const same of session.running.values())
        for (const controller of same) controller.abort(new GatewayError("CALL_CANCELLED", reason));
      for (const release of session.subscriptions.values()) release();
      session.subscriptions.clear();
      session.onClose?.();
      ended.abort(new GatewayError("CALL_CANCELLED", reason));
      stream?.end();
    },
  };
  return session;
}

/** Enters a request that is worked on. Clients may use an id twice: notifications/cancelled then means both. */
export function track(session: Session, id: string | number, controller: AbortController): void {
  const same = session.running.get(id);
  if (same === undefined) session.running.set(id, new Set([controller]));
  else same.add(controller);
}

export function untrack(session: Session, id: string | number, controller: AbortController): void {
  const same = session.running.get(id);
  same?.delete(controller);
  if (same?.size === 0) session.running.delete(id);
}
