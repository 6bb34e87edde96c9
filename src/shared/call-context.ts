import type { JsonBytes } from "./json-bytes.ts";
import type { Principal } from "./principal.ts";

/** Which family of revisions a peer speaks (PROTOCOL.md): `modern` is 2026-07-28 and later, `legacy` everything with initialize. */
export type Era = "modern" | "legacy";

/** What a server may ask of the client while it works on a call: elicitation/create, sampling/createMessage, roots/list. */
export interface Question {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  /** The request's params as the server wrote them. */
  readonly params: JsonBytes;
  /** The key that the server gave the question (modern inputRequests); absent when it was pushed. */
  readonly key?: string;
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
  /** The client's `_meta` without the protocol's own keys, to be passed on; undefined when there is nothing to pass. */
  readonly meta?: { readonly [key: string]: unknown } | undefined;
  /** Given when the client asked for progress. `params` is that of notifications/progress without its progressToken. */
  readonly onProgress?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
  /** Given when the client wants log messages: the params of notifications/message. */
  readonly onLog?: ((params: { readonly [key: string]: unknown }) => void) | undefined;
  /** The least level that the client asked for, when it asked (modern: in `_meta`; legacy: logging/setLevel). */
  readonly logLevel?: string | undefined;
  /** Given when the client can be asked at all. The answer is whatever the client said; rejects when it cannot or went away. */
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;
  /** A modern client's answers to `input_required`, and the state that it echoes (2026-07-28, patterns/mrtr). */
  readonly inputResponses?: JsonBytes | undefined;
  readonly requestState?: string | undefined;
}

/** What the client said of itself; untrusted, never used for rights. */
export interface ClientTraits {
  readonly era: Era;
  readonly revision: string;
  readonly capabilities: { readonly [key: string]: unknown };
}
