import type { Question } from "../../kernel/call/call-context.ts";
import { GatewayError, type SentFailure } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Audience, Closed, ParamMember, Peer, UpstreamRequest } from "../../servers/upstream/connection.ts";

/** An instance at another node: which, whose, and the server's slug, by which messages name it. */
export interface FarInstance {
  readonly instance: string;
  readonly owner: string | null;
  readonly server: string;
}

/** `c` is the channel of one instance on one link, `id` a request in it, `q` a question of its server. */
interface OfRequest {
  readonly c: number;
  readonly id: number;
}

/** The members of a request that travel as they are. */
export type SentRequest = Pick<
  UpstreamRequest,
  | ("method" | "meta" | "era" | "clientCapabilities" | "logLevel" | "timeoutMs" | "maxTimeoutMs")
  | ("client" | "headers" | "passedHeaders" | "nameHeader")
>;

/** What of a request's life the client wants to hear. */
export interface Wants {
  readonly progress: boolean;
  readonly log: boolean;
  readonly ask: boolean;
  readonly replies: boolean;
  readonly breakOff: boolean;
}

/** What one node asks another that is no call. */
export type PeerQuestion =
  /** Whether it reaches the database. */
  | { readonly question: "reach" | NodeOrder }
  | ClientNote
  /** What people use there of the limits. */
  | ({ readonly question: "use" } & UseNote)
  /** About something that lives at one node; the answer has `about` where it is there. */
  | { readonly question: "held"; readonly kind: HeldKind; readonly about: JsonObject }
  /** A person restarts or stops an instance, at whatever node. */
  | ({ readonly question: InstanceOrder; readonly limitMs: number } & Omit<FarInstance, "server">);

/** What each person uses at a node: running calls, open streams, and calls since the use was told before. */
export interface UseNote {
  readonly node: string;
  readonly uses: readonly (readonly [person: string, running: number, streams: number, calls: number])[];
}

/** What one node keeps for clients, who may name it at any other. */
export type HeldKind = "kept" | "parked" | "asked" | "task" | "session" | "stream" | "post" | "load";

/**
 * An answer or a notification that a client sent in a session, and that nothing at that node waits for. An answer has
 * its bytes.
 */
export interface ClientNote {
  readonly question: "client";
  readonly session: string;
  readonly principal: string;
  readonly said:
    | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
    | { readonly kind: "response"; readonly id: string | number; readonly as: "result" | "error" };
}

export type NodeOrder = "drain" | "resume";
export type InstanceOrder = "restart" | "stop";

/** To the node that runs the instance. A request has the values of its `params` as bytes, an answer its result. */
export type AskingFrame =
  | ({ readonly k: "open"; readonly c: number } & FarInstance)
  | { readonly k: "close"; readonly c: number }
  | ({ readonly k: "request"; readonly lengths: PackedLengths; readonly wants: Wants } & OfRequest & SentRequest)
  | ({ readonly k: "cancel" } & OfRequest)
  | { readonly k: "notify"; readonly c: number; readonly method: string; readonly params: JsonObject }
  | { readonly k: "answer"; readonly c: number; readonly q: number; readonly as: "result" | "error" }
  | { readonly k: "unanswered"; readonly c: number; readonly q: number; readonly message: string }
  | { readonly k: "answering"; readonly c: number; readonly q: number; readonly params: JsonObject }
  | ({ readonly k: "tell"; readonly id: number } & PeerQuestion)
  /** The answer to a question is not awaited any more. */
  | { readonly k: "untell"; readonly id: number }
  /** Somebody reads what happens at all nodes, or does no longer. */
  | { readonly k: "watch"; readonly isWanted: boolean };

/** From it. Results and errors are bytes, as their server wrote them. */
export type AnsweringFrame =
  | { readonly k: "opened"; readonly c: number; readonly peer: Peer }
  | { readonly k: "refused"; readonly c: number; readonly failure: SentFailure }
  | { readonly k: "ended"; readonly c: number; readonly closed: Closed }
  | {
      readonly k: "event";
      readonly c: number;
      readonly method?: string;
      readonly params?: JsonObject;
      readonly audience?: Audience;
    }
  | ({ readonly k: "result" | "error" | "message" } & OfRequest)
  | ({ readonly k: "failed"; readonly sent: boolean; readonly failure: SentFailure } & OfRequest)
  | ({ readonly k: "progress" | "log"; readonly params: JsonObject } & OfRequest)
  | ({ readonly k: "breakOff"; readonly nextMs: number } & OfRequest)
  | ({ readonly k: "ask"; readonly q: number; readonly wantsProgress: boolean } & OfRequest &
      Pick<Question, "method" | "key">)
  /** Before the answer to a question. Long bytes come in several; `more` says that they go on. */
  | { readonly k: "saying"; readonly id: number; readonly about: JsonObject; readonly more: boolean }
  | ({ readonly k: "told"; readonly id: number } & JsonObject)
  /** Something happened there: its bytes are the event. `lost`: some of what happened is not told. */
  | { readonly k: "happened"; readonly about?: JsonObject; readonly metadata?: string; readonly lost?: true };

/** That node does not run the server any more: where it runs is to be found out. The call was not sent. */
export function moved(server: string, node: string): GatewayError {
  return new GatewayError("INSTANCE_MOVED", `${server} does not run at ${node} any more`);
}

/** The names of members with the lengths of their values, in order. */
export type PackedLengths = readonly (readonly [key: string, bytes: number])[];

/** Members of `params` as lengths, and their values one after the other. */
export function packParams(params: readonly ParamMember[]): readonly [PackedLengths, Buffer] {
  const parts = params.map(
    ([key, value]) => [key, typeof value === "string" ? Buffer.from(value, "latin1") : value] as const,
  );
  const [only] = parts;
  const body = parts.length === 1 && only !== undefined ? only[1] : Buffer.concat(parts.map(([, bytes]) => bytes));
  return [parts.map(([key, bytes]) => [key, bytes.length]), body];
}

/** The members again, without copying; undefined when lengths and bytes do not fit. */
export function unpackParams(lengths: PackedLengths, body: Buffer): readonly ParamMember[] | undefined {
  const params: ParamMember[] = [];
  let at = 0;
  for (const [key, bytes] of lengths) {
    if (!Number.isSafeInteger(bytes) || bytes < 0) return undefined;
    params.push([key, body.subarray(at, at + bytes)]);
    at += bytes;
  }
  return at === body.length ? params : undefined;
}
