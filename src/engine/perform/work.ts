import type { View } from "../../catalog/model/view.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import type { JsonBytes, JsonObject } from "../../kernel/text/json-bytes.ts";

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
