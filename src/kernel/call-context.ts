import type { ClientPresence } from "./client-presence.ts";
import type { JsonBytes } from "./json-bytes.ts";
import type { Principal } from "./principal.ts";

/**
 * Which family of revisions a peer speaks (docs/design.md, "Eras"): `modern` is 2026-07-28 and later, `legacy`
 * everything with initialize.
 */
export type Era = "modern" | "legacy";

/**
 * What a server may ask of the client while it works on a call: elicitation/create, sampling/createMessage,
 * roots/list.
 */
export interface Question {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  /** The request's params as the server wrote them. */
  readonly params: JsonBytes;
  /** The key that the server gave the question (modern inputRequests); absent when it was pushed. */
  readonly key?: string;
  /**
   * Given when the server wants to hear how far the answer is: the params of notifications/progress without its
   * token.
   */
  readonly onProgress?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
}

export type Answer =
  | { readonly kind: "result"; readonly result: JsonBytes }
  | { readonly kind: "error"; readonly error: JsonBytes };

/** What travels with every call, read, completion and search, from the front to the connection. */
export interface CallContext {
  readonly principal: Principal;
  /** Aborts when the client cancels or goes away. */
  readonly signal: AbortSignal;
  readonly client: ClientTraits;
  /** The connection that it came on, where there is one that lasts. */
  readonly connected?: ConnectedClient | undefined;
  /** The client's `_meta` without the protocol's own keys, to be passed on; undefined when there is nothing to pass. */
  readonly meta?: { readonly [key: string]: unknown } | undefined;
  /** Given when the client asked for progress. `params` is that of notifications/progress without its progressToken. */
  readonly onProgress?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
  /** Given when the client wants log messages: the params of notifications/message. */
  readonly onLog?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
  /** The least level that the client asked for, when it asked (modern: in `_meta`; legacy: logging/setLevel). */
  readonly logLevel?: string | undefined;
  /**
   * Given when the client can be asked at all. The answer is whatever the client said; rejects when it cannot or went
   * away.
   */
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;
  /** A modern client's answers to `input_required`, and the state that it echoes (2026-07-28, patterns/mrtr). */
  readonly inputResponses?: JsonBytes | undefined;
  readonly requestState?: string | undefined;
  /** What the gateway itself answers to `roots/list` in this call, where the configuration lists them. */
  readonly ownRoots?: JsonBytes | undefined;
  /** Members of the request's `params` that the gateway has no use for: they go to the server as they are. */
  readonly extraParams?: readonly (readonly [key: string, value: JsonBytes])[] | undefined;
  /** Set where one server is shown as it is: nothing is added to what it says. */
  readonly transparent?: boolean | undefined;
  /** Set where the client was shown the servers' own definitions of tools, output schemas included. */
  readonly sawDefinitions?: boolean | undefined;
  /** Set where a program reads the result and no model: it is given whole. */
  readonly forProgram?: boolean | undefined;
  /** The most tokens that the result may have, where the request says so; 0: as many as it has. */
  readonly maxResultTokens?: number | undefined;
  /** The way back to the client. */
  readonly replies?: Replies | undefined;
}

/** The way back that a request has while it is worked on. */
export interface Replies {
  /** Sends a complete message (latin1) before the answer; false when it cannot be delivered. */
  send(message: string): boolean;
  /**
   * Ends the client's stream without an answer, for a client that comes back for it (2025-11-25, transports:
   * polling).
   */
  breakOff?(): void;
}

/** A client for as long as it is connected: a legacy session, or a connection over stdio. */
export interface ConnectedClient {
  /** No two clients have the same, whoever they belong to. It is no credential, and may be logged. */
  readonly id: string;
  /** Aborts when it is gone. */
  readonly ended: AbortSignal;
  /** Whether it is still there, for servers that hold state. */
  readonly presence: ClientPresence;
  /** Asks it outside of any call, where there is a way to. */
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;
}

/** What the client said of itself; untrusted, never used for rights. */
export interface ClientTraits {
  readonly era: Era;
  readonly revision: string;
  /** `clientInfo` of a request that says it itself (2026-07-28). */
  readonly info?: unknown;
  readonly capabilities: { readonly [key: string]: unknown };
}
