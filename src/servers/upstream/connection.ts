import type { Answer, Era, Question, Replies } from "../../kernel/call-context.ts";
import type { JsonBytes, JsonObject } from "../../kernel/json-bytes.ts";

/** What the other end of a connection said of itself. Untrusted; servers are told apart by slug, never by this. */
export interface Peer {
  readonly era: Era;
  readonly revision: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Every era that the server was seen to speak. The verdict is kept per server and credential. */
  readonly eras: readonly Era[];
  /** Ids of the gateways that it is, or has behind it, where it says so. */
  readonly gateways?: readonly string[];
}

/**
 * One live way to a server. Made by `connectStdio`, `connectHttp` or `connectSse`; handed out by the instance.
 * Requests are independent: any number may be in flight, each is settled exactly once.
 */
export interface Connection extends AsyncDisposable {
  readonly peer: Peer;
  /**
   * Sends one request and resolves to its reply: the server's result or error, as bytes.
   * Throws GatewayError UPSTREAM_TIMEOUT, UPSTREAM_CLOSED, UPSTREAM_PROTOCOL, UPSTREAM_BUSY, UPSTREAM_HTTP,
   * CONNECT_FAILED, SERVER_NEEDS_LOGIN, RESULT_TOO_LARGE, CALL_CANCELLED.
   */
  request(request: UpstreamRequest): Promise<Reply>;
  /** Sends a notification; resolves when it was handed to the transport. */
  notify(method: string, params: JsonObject): Promise<void>;
  /** Settles when the connection has ended, however it ended. Never rejects. */
  readonly closed: Promise<Closed>;
  /** Requests that have been sent and not been answered. */
  readonly inFlight: number;
  /** Monotonic ms of the last message in either direction: for the idle stop. */
  readonly lastActivityMs: number;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Members of `params` without `_meta`, each as the bytes to send, in order. */
  readonly params: readonly ParamMember[];
  /** Passed on inside `_meta`, beside the keys that the connection itself sets. */
  readonly meta?: JsonObject | undefined;
  /**
   * Era of the client on whose behalf this is sent; a server of both eras is reached in it. Default: the connection's
   * own.
   */
  readonly era?: Era | undefined;
  /** Capabilities of the client on whose behalf this is sent (modern servers read them per request). */
  readonly clientCapabilities?: JsonObject | undefined;
  readonly logLevel?: string | undefined;
  readonly signal: AbortSignal;
  /** Silence allowed before UPSTREAM_TIMEOUT; progress starts it again. Waiting for a person does not count. */
  readonly timeoutMs: number;
  /** Ends the request whatever progress there is. */
  readonly maxTimeoutMs: number;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** The client's own way back: for what the server says on the request's stream that is nobody else's business. */
  readonly replies?: Replies | undefined;
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;
  /** Header parameters of the tool (2026-07-28, streamable-http, `x-mcp-header`): name without prefix, and value. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The value of `Mcp-Name`: the tool's or prompt's real name, or the resource's URI. */
  readonly nameHeader?: string | undefined;
  /**
   * Called once, as the request is written: from here on the server may have seen it, so that it must not be sent
   * again blindly.
   */
  readonly onSent?: (() => void) | undefined;
}

/** The value as the client's bytes, or as JSON text of our own, which must be ASCII (`wire/json/ascii-json.ts`). */
export type ParamMember = readonly [key: string, value: JsonBytes | string];

export type Reply =
  | { readonly kind: "result"; readonly result: JsonBytes }
  | { readonly kind: "error"; readonly error: JsonBytes };

export type Closed =
  | { readonly kind: "asked" }
  | {
      readonly kind: "exited";
      readonly code: number | null;
      readonly signal: string | null;
      readonly stderr: readonly string[];
    }
  | { readonly kind: "lost"; readonly reason: string };

/** Answers `roots/list` on a connection. A server that has none is not told that it could ask. */
export interface RootsSource {
  /** Never rejects. */
  answer(params: JsonBytes, signal: AbortSignal): Promise<Answer>;
}

/** What a connection tells its instance on its own: never about a single request. */
export interface ConnectionEvents {
  /**
   * A notification that belongs to no request (`isOfCall`: to one whose client does not want it):
   * `notifications/tools/list_changed`, `notifications/resources/updated`, ...
   */
  onNotification(method: string, params: JsonObject, isOfCall?: boolean): void;
  /**
   * The server had forgotten the session, and there is a new one: subscriptions and log level went with the old, and
   * lists may be others.
   */
  onSessionReplaced?(): void;
  /** One line that the server wrote to stderr, cut at 4 KB. */
  onStderr(line: string): void;
  /**
   * Something odd that was dropped: a second answer, an unknown id, a line that is no JSON. Counted, and logged at
   * debug.
   */
  onOddity(kind: OddityKind, detail: string): void;
}

export type OddityKind =
  | "not-json"
  | "unknown-id"
  | "answer-dropped"
  | "second-answer"
  | "unknown-progress"
  | "request-refused"
  | "roots-refused"
  | "notification-refused";
