import type { View } from "../../catalog/model/view.ts";
import type { CallContext } from "../../kernel/call-context.ts";
import type { JsonBytes, JsonObject } from "../../kernel/json-bytes.ts";

/** What an intent is carried out with. Who asks stands in the context and nowhere else. */
export interface Work {
  readonly context: CallContext;
  /** The view that the intent was made from. */
  readonly view: View;
  /** The client's request, for intents that pass it on as it is. Fronts that have no such intents have none to give. */
  readonly request?: OriginalRequest;
}

/** A request as the client wrote it. */
export interface OriginalRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** A member of `params` as the bytes that stood there. */
  paramBytes(key: string): JsonBytes | undefined;
}
