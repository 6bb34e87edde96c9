import type { ServerConfig } from "../../config/config.ts";
import type { Answer, Era, Question, Replies } from "../../kernel/call/call-context.ts";
import type { JsonBytes, JsonObject } from "../../kernel/text/json-bytes.ts";
import type { TraceSpan } from "../../kernel/runtime/tracing.ts";
import type { Rung } from "./declared-capabilities.ts";
import { longestMs } from "../../kernel/limits.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** What the server said about itself. Untrusted; servers are identified by their slug, never by this. */
export interface Peer {
  readonly era: Era;
  readonly revision: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Every era that the server is known to speak. Remembered per server and credential. */
  readonly eras: readonly Era[];
  /** The ids of the gateways that the server is, or has behind it, if it says so. */
  readonly gateways?: readonly string[];
  /** How the next start should begin; undefined where nothing has to be remembered. */
  readonly handshake?: Handshake | undefined;
}

/** The `initialize` that a server accepted; kept with its catalog, so that the next start begins with it. */
export interface Handshake {
  readonly rung: Rung;
  /** The version that the server had then: another one may know more, so it is asked for everything. */
  readonly version: string | undefined;
}

/** A request of a handshake that did not lead to a connection. */
export interface FailedStep {
  /** `server/discover`, or `initialize` with its revision and what was declared. */
  readonly step: string;
  /** One line; may quote the server. */
  readonly why: string;
  /** Whether the process ended at it. */
  readonly hasEnded: boolean;
}

/**
 * A live connection to a server. `connectStdio`, `connectHttp` and `connectSse` make one; the instance hands it out.
 * Any number of requests may be in flight, independent of each other; each settles exactly once.
 */
export interface Connection extends AsyncDisposable {
  readonly peer: Peer;
  /**
   * Sends one request. Resolves to the server's result or error, as bytes. Rejects with GatewayError
   * UPSTREAM_TIMEOUT, UPSTREAM_CLOSED, UPSTREAM_PROTOCOL, UPSTREAM_BUSY, UPSTREAM_HTTP, CONNECT_FAILED,
   * SERVER_NEEDS_LOGIN, RESULT_TOO_LARGE or CALL_CANCELLED.
   */
  request(request: UpstreamRequest): Promise<Reply>;
  /** Sends a notification. Resolves when the transport has taken it. */
  notify(method: string, params: JsonObject): Promise<void>;
  /** Settles when the connection has ended in any way. Never rejects. */
  readonly closed: Promise<Closed>;
  /** The number of requests that were sent and not answered yet. */
  readonly inFlight: number;
  /** Ends the server's process at once, without asking it; undefined where there is none. */
  readonly kill?: (() => void) | undefined;
  /** Clients' requests among them, for the dashboard: the cost grows with the number that wait. */
  pending(): readonly PendingRequest[];
  /** Monotonic ms of the last message in either direction. */
  readonly lastActivityMs: number;
  /**
   * Title and icons of the server's card, for a server whose `serverInfo` has none; undefined when the connection ended
   * first. Never rejects. Absent where servers have no card.
   */
  readonly readCard?: (() => Promise<JsonObject | undefined>) | undefined;
  /** The node that runs the server, where that is another one than this. */
  readonly far?: { readonly node: string } | undefined;
  /** The start that opened it, while there are traces. */
  readonly startSpan?: TraceSpan | undefined;
  /** Of a connection that is made of several, or that has a breaker. */
  readonly replicas?: Replicas | undefined;
}

/** The processes or addresses among which a connection divides its requests. */
export interface Replicas {
  all(): readonly ReplicaFacts[];
  /** Which of them take no calls and why, for people; undefined while all take them. */
  summary(): string | undefined;
  /** Whether announcements of every one of them arrive. */
  isHeard(): boolean;
  /** Applies a configuration with another number of them. */
  adjust(next: ServerConfig): void;
}

/** One process or address. */
export interface ReplicaFacts {
  /** `replica 2`, or its origin. */
  readonly name: string;
  readonly isUp: boolean;
  readonly pid: number | undefined;
  readonly inFlight: number;
  readonly breaker: "closed" | "open" | "half-open";
  /** Why it gets no calls, or only some; undefined while it gets them. */
  readonly why: string | undefined;
}

/** The unexpected end of a process. */
interface Crash {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Within the window that counts. */
  readonly crashes: number;
  readonly stderr: readonly string[];
}

/** What became of one of the processes or addresses of a connection that has several, or of its breaker. */
export type ReplicaChange =
  | {
      readonly kind: "down";
      readonly name: string;
      readonly why: string;
      /** Of a process that ended. */
      readonly crash: Crash | undefined;
    }
  /** `isNews`: it had been up before. */
  | { readonly kind: "up"; readonly name: string; readonly isNews: boolean }
  | {
      readonly kind: "breaker";
      readonly name: string;
      readonly state: ReplicaFacts["breaker"];
      readonly why: string;
    };

/** A client's request that the server works on. */
export interface PendingRequest {
  readonly method: string;
  /** The name that the server knows the tool or prompt by, or the URI of the resource. */
  readonly name: string | undefined;
  /** Monotonic. */
  readonly sinceMs: number;
}

/** One request to a server. */
export interface UpstreamRequest {
  readonly method: string;
  /** The members of `params` except `_meta`, each as the bytes to send, in order. */
  readonly params: readonly ParamMember[];
  /** Sent in `_meta`, in addition to the keys that the connection sets. */
  readonly meta?: JsonObject | undefined;
  /**
   * The era of the client on whose behalf the request is sent. A server of both eras gets the request in that era. By
   * default, the connection's own era.
   */
  readonly era?: Era | undefined;
  /** The capabilities of the client on whose behalf the request is sent; modern servers read them from each request. */
  readonly clientCapabilities?: JsonObject | undefined;
  readonly logLevel?: string | undefined;
  readonly signal: AbortSignal;
  /**
   * The longest silence before UPSTREAM_TIMEOUT. Progress restarts it; time in which a person is asked does not count.
   */
  readonly timeoutMs: number;
  /**
   * The most time for the whole request, whatever progress there is. Time in which a person is asked does not count.
   */
  readonly maxTimeoutMs: number;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** Sends messages to the client: what the server says on the request's own stream concerns only that client. */
  readonly replies?: Replies | undefined;
  /** The client's connection: what the server says to it after the call goes there (`ConnectedClient.id`). */
  readonly client?: string | undefined;
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;
  /** The tool's header parameters (2026-07-28, streamable-http, `x-mcp-header`): name without prefix, and value. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /**
   * Header parameters that the client sent: name without prefix, and value as it stood in the header. Those that
   * `headers` has too are not sent twice.
   */
  readonly passedHeaders?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The value of `Mcp-Name`: the tool's or prompt's own name, the resource's URI, or the task's id. */
  readonly nameHeader?: string | undefined;
  /**
   * Called once, when the request is being written. From then on the server may have seen it, so it must not be
   * repeated blindly.
   */
  readonly onSent?: (() => void) | undefined;
}

/**
 * A member of `params`. The value is the client's bytes, or JSON text of our own, which must be ASCII
 * (`wire/json/ascii-json.ts`).
 */
export type ParamMember = readonly [key: string, value: JsonBytes | string];

/** The server's answer to a request. */
export type Reply =
  | { readonly kind: "result"; readonly result: JsonBytes }
  | { readonly kind: "error"; readonly error: JsonBytes };

/** How a connection ended: on request, with the server's process, by losing the server, or because it moved. */
export type Closed =
  | { readonly kind: "asked" }
  /** Another node runs it, or is to: nothing is wrong with the server. `isLost`: its node was lost. */
  | { readonly kind: "moved"; readonly node: string; readonly isLost?: boolean | undefined }
  | {
      readonly kind: "exited";
      readonly code: number | null;
      readonly signal: string | null;
      /** Clients' requests that were not answered. */
      readonly inFlight: number;
      readonly stderr: readonly string[];
    }
  | { readonly kind: "lost"; readonly reason: string };

/** Answers a server's `roots/list`. A server whose connection has no such source is not told that it may ask. */
export interface RootsSource {
  /** Never rejects. */
  answer(params: JsonBytes, signal: AbortSignal): Promise<Answer>;
}

/**
 * Who may hear a notification: one client, by its connection, or none, because it belongs to a request whose client has
 * not asked for it.
 */
export type Audience = "nobody" | { readonly client: string };

/** What a connection reports to its instance: everything that does not concern a single request. */
export interface ConnectionEvents {
  /**
   * A notification that belongs to no request, for example `notifications/tools/list_changed` or
   * `notifications/resources/updated`. Without `audience`, all clients of the server may hear it.
   */
  onNotification(method: string, params: JsonObject, audience?: Audience): void;
  /**
   * The server had lost the session, and a new one was opened. Subscriptions and the log level were lost with the old
   * one, and the lists may have changed.
   */
  onSessionReplaced?(): void;
  /** Sessions are lost so often that no more are opened for a while. */
  onRenewalsExhausted?(): void;
  /** A request of the handshake failed, and another one is tried or the start fails. */
  onHandshakeStep?(failed: FailedStep): void;
  /** One of several processes or addresses, or a breaker, has changed. */
  onReplica?(change: ReplicaChange): void;
  /** One line from the server's stderr, cut at 4 KB. */
  onStderr(line: string): void;
  /**
   * Something was dropped: a second answer, an unknown id, a line that is not JSON. Counted, and logged at level
   * debug.
   */
  onOddity(kind: OddityKind, detail: string): void;
  /** A confined process wanted to reach a host that it may not. Called for each attempt. */
  onDenied?(denied: DeniedReach): void;
  /** A confined process reached a host; called for each connection, with what `sandbox.network` calls it. */
  onReached?(host: string): void;
  /** A process that was to be confined runs unconfined, because its rules leave that open. */
  onUnconfined?(why: string): void;
}

/** A host that a confined server was kept from. */
export interface DeniedReach {
  readonly host: string;
  /** Undefined where only the host's address was asked for. */
  readonly port: number | undefined;
  /** The end of a sentence. */
  readonly why: string;
  /** What would allow it in `sandbox.network`; undefined where nothing would. */
  readonly allowedBy: string | undefined;
}

/** What a server did that the protocol does not allow. */
export type OddityKind =
  | "not-json"
  | "unknown-id"
  | "answer-dropped"
  | "second-answer"
  | "unknown-progress"
  | "request-refused"
  | "roots-refused"
  | "notification-refused";

/** Requests to one server in one era. A server of both eras has two channels over the same wire. */
export interface Channel {
  request(request: UpstreamRequest): Promise<Reply>;
  failAll(error: () => GatewayError): void;
  readonly size: number;
  /** Clients' requests that wait. */
  pending(): readonly PendingRequest[];
}

/** The same request with a timeout that a timer can hold: subscriptions have an infinite one. */
export function withFiniteTimeouts(request: UpstreamRequest): UpstreamRequest {
  if (request.timeoutMs <= longestMs) return request;
  return { ...request, timeoutMs: longestMs };
}
