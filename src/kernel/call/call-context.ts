import type { ClientPresence } from "../client-presence.ts";
import type { JsonBytes } from "../text/json-bytes.ts";
import type { Principal } from "../principal.ts";

/**
 * Which family of revisions a peer speaks (docs/design.md, "Eras"): `modern` is 2026-07-28 and later, `legacy` every
 * earlier revision, which begins with `initialize`.
 */
export type Era = "modern" | "legacy";

/** A request that a server makes to the client while it works on a call. */
export interface Question {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  /** The request's params, exactly as the server wrote them. */
  readonly params: JsonBytes;
  /**
   * The key under which the server listed the question in `inputRequests` (modern servers); absent when the server
   * sent the question as a request of its own.
   */
  readonly key?: string;
  /**
   * Present when the server asked for progress on the answer. Takes the params of notifications/progress without the
   * progressToken.
   */
  readonly onProgress?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
}

/** What the client answered to a question: a result or an error object, as the client wrote it. */
export type Answer =
  | { readonly kind: "result"; readonly result: JsonBytes }
  | { readonly kind: "error"; readonly error: JsonBytes };

/**
 * The ways in: MCP over Streamable HTTP, over HTTP+SSE and over stdio, the REST API, calls in process, and commands
 * that a person types (`owner`), from which nothing is learned.
 */
export type Front = "http" | "sse" | "stdio" | "rest" | "process" | "owner";

/** What accompanies every call, read, completion and search, from the client's request to the server's connection. */
export interface CallContext {
  readonly principal: Principal;
  /** Aborts when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  readonly client: ClientTraits;
  /** Which way the request came in. */
  readonly via: Front;
  /**
   * Milliseconds that it has waited so far, for its server's start and for a person. Every stage that waits adds to
   * it, and it is told apart from the call's own time when it is recorded.
   */
  waitedMs: number;
  /** The other node that it was sent to, where one runs the server. This and `waitedMs` alone change. */
  node?: string | undefined;
  /** The client's connection; undefined when the request did not come over a session or stdio. */
  readonly connected?: ConnectedClient | undefined;
  /** The client's `_meta` to pass on, without the keys that the protocol defines; undefined when nothing is left. */
  readonly meta?: { readonly [key: string]: unknown } | undefined;
  /**
   * Present when the client asked for progress. Takes the params of notifications/progress without the progressToken.
   */
  readonly onProgress?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
  /** Present when the client wants log messages. Takes the params of notifications/message. */
  readonly onLog?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
  /** The lowest log level that the client asked for (modern: in `_meta`; legacy: logging/setLevel), if it asked. */
  readonly logLevel?: string | undefined;
  /**
   * Present when the client can be asked. Resolves to what the client answered, an error included; rejects when the
   * client cannot answer or has disconnected.
   */
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;
  /** A modern client's answers to `input_required`, and the state that it sends back (2026-07-28, patterns/mrtr). */
  readonly inputResponses?: JsonBytes | undefined;
  readonly requestState?: string | undefined;
  /** The gateway's own answer to `roots/list` in this call; set when the configuration lists roots for the server. */
  readonly ownRoots?: JsonBytes | undefined;
  /** Members of the request's `params` that the gateway does not use; they are passed to the server unchanged. */
  readonly extraParams?: readonly (readonly [key: string, value: JsonBytes])[] | undefined;
  /**
   * The request's `Mcp-Param-*` headers, at endpoints that show one server unchanged: names without that prefix, values
   * as they were sent.
   */
  readonly paramHeaders?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Set at endpoints that show one server unchanged: the gateway adds nothing to its results. */
  readonly transparent?: boolean | undefined;
  /** Set when the client was shown the servers' own definitions of tools, including output schemas. */
  readonly sawDefinitions?: boolean | undefined;
  /** Set when a person has said yes to the call, which its server may interrupt with questions of its own. */
  isApproved?: boolean | undefined;
  /** Reasons of the call itself to ask a person, beside what its tool does; set by stages before the question. */
  doubts?: readonly Doubt[] | undefined;
  /** What stages noted of the call, for its record. Without values of secrets. */
  remarks?: readonly string[] | undefined;
  /** Set when a person tries a tool in the dashboard: nothing is learned from it. */
  readonly isTrial?: boolean | undefined;
  /** Set when a program rather than a model reads the result, which is then never cut. */
  readonly forProgram?: boolean | undefined;
  /** The most tokens that the result may have, if the request says so; 0 for no limit. */
  readonly maxResultTokens?: number | undefined;
  /** Sends messages to the client before the answer; undefined when the transport cannot. */
  readonly replies?: Replies | undefined;
  /** Where the stages of the call note what they wait for; undefined where it is not reported. */
  readonly stage?: CallStage | undefined;
}

/** Why a call asks a person whom its tool alone would not ask. */
export interface Doubt {
  /** A yes that is remembered counts for calls with the same kinds of doubt. */
  readonly kind: string;
  /** The end of a sentence: `its arguments hold what looks like a key`. */
  readonly because: string;
}

/** Sends messages to the client while its request is being worked on. */
export interface Replies {
  /** Sends a complete JSON-RPC message (latin1) before the answer. Returns false when it cannot be delivered. */
  send(message: string): boolean;
  /** Whether the client can be reached now; missing where it always can until its request ends. */
  isHere?(): boolean;
  /**
   * Closes the client's stream without an answer, which can be fetched from the server in `nextMs` at the earliest; the
   * client reconnects for it later (2025-11-25, transports: polling).
   */
  breakOff?(nextMs: number): void;
}

/** A client while it is connected: a legacy session, or a connection over stdio. */
export interface ConnectedClient {
  /** Unique among all clients of the gateway. It grants no access and may be logged. */
  readonly id: string;
  /** Aborts when the client has disconnected. */
  readonly ended: AbortSignal;
  /** Whether the client is still connected; servers that keep state for one client at a time depend on it. */
  readonly presence: ClientPresence;
  /** Asks the client something outside of any call; undefined when the transport cannot. */
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;
}

/** What the client says about itself. It is untrusted and never decides what the client may do. */
export interface ClientTraits {
  readonly era: Era;
  readonly revision: string;
  /** `clientInfo` from the request itself (2026-07-28). */
  readonly info?: unknown;
  /** What it called itself when it initialized (earlier revisions). */
  readonly name?: string | undefined;
  readonly capabilities: { readonly [key: string]: unknown };
}

/** The arguments of a call: the bytes that the client wrote, and the value that JSON.parse made of them. */
export interface CallArguments {
  /** Sent to the server as they are; undefined when the client gave no arguments. */
  readonly bytes: JsonBytes | undefined;
  /** Used for checks only; `{}` when the client gave no arguments. */
  readonly value: unknown;
}

/** The arguments of a call that has none. */
export const noArguments: CallArguments = Object.freeze({ bytes: undefined, value: Object.freeze({}) });

/** Whether arguments say that there are none, as many languages write it: null, an empty list. */
export function areNone(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Parses arguments that are available only as bytes. Throws SyntaxError when they are not JSON. */
export function toCallArguments(bytes: JsonBytes | undefined): CallArguments {
  return bytes === undefined ? noArguments : { bytes, value: JSON.parse(bytes.toString("utf8")) as unknown };
}

/** What a request is waiting for, in the words that its client is told. One object for all copies of its context. */
export interface CallStage {
  /** The server, or servers; undefined before it is known. */
  server: string | undefined;
  /** Whether it is being started; otherwise its answer is waited for. */
  isStarting: boolean;
}

/** Servers that are named; the others are counted. */
const mostNamed = 3;

/** Says that these servers are being started for the request. */
export function noteStarting(stage: CallStage | undefined, slugs: readonly string[]): void {
  if (stage === undefined || slugs.length === 0) return;
  const others = slugs.length - mostNamed;
  const named = slugs.slice(0, mostNamed).join(", ");
  stage.server = others > 0 ? `${named} and ${others} more` : named;
  stage.isStarting = true;
}
