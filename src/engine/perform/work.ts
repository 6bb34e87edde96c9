import type { View, ViewServer } from "../../catalog/model/view.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import type { JsonBytes, JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Found } from "../../catalog/exposure/discover/discover-text.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import type { ServerAnswer } from "../calls/server-call.ts";

/** The circumstances in which an intent is carried out. The principal is in the context and nowhere else. */
export interface Work {
  readonly context: CallContext;
  /** The view in which the intent's names were looked up. */
  readonly view: View;
  /** The client's request, for intents that pass it on unchanged. Absent from fronts that have no such intents. */
  readonly request?: OriginalRequest;
}

/** A request as the client wrote it. */
export interface OriginalRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** A member of `params` as the bytes that the client wrote. */
  paramBytes(key: string): JsonBytes | undefined;
}

/** The result of each kind of intent, before a front encodes it. */
export interface OutcomeOf {
  readonly call: ServerAnswer;
  readonly read: ServerAnswer;
  readonly prompt: ServerAnswer;
  readonly complete: ServerAnswer;
  readonly forward: ServerAnswer;
  readonly discover: Found;
  readonly "list-resources": { readonly kind: "resources"; readonly list: JsonObject };
  readonly "list-namespace": LoadedNamespace;
  readonly kept: { readonly kind: "own"; readonly result: JsonObject };
  readonly answer: { readonly kind: "own"; readonly result: JsonObject };
}

export type Outcome = OutcomeOf[Intent["kind"]];

/** A namespace as it is after loading. */
export interface LoadedNamespace {
  readonly kind: "namespace";
  readonly asked: Extract<Intent, { kind: "list-namespace" }>;
  /** The view after loading. */
  readonly view: View;
  readonly server: ViewServer;
  /** Wall clock. Undefined when there was no room to keep it loaded. */
  readonly loadedAtMs: number | undefined;
  /** Why its tools may be out of date. Undefined when they are fresh. */
  readonly stale: string | undefined;
}
