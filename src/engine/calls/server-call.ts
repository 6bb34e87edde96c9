import type { CallContext } from "../../kernel/call/call-context.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import type { MirroredHeaders } from "./arguments/mirrored-headers.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";

/** A request to one server, and the check of its answer. */
export interface Target {
  readonly method: string;
  readonly nameHeader: string | undefined;
  readonly headers: MirroredHeaders;
  /** Whether it may be sent again after it may have run. */
  readonly repeatable: boolean;
  /** What a sealed state is bound to. */
  readonly binding: () => string;
  /** On a header mismatch the lists are fetched again and the request is sent once more. */
  readonly refetch: boolean;
  readonly check: (result: JsonBytes) => ResultBytes | Promise<ResultBytes>;
}

/** One request on its way: to which instance, for what, with which parameters, on whose behalf. */
export interface ServerCall {
  readonly instance: Instance;
  readonly target: Target;
  readonly params: readonly ParamMember[];
  readonly context: CallContext;
}

/** What a server answered to a request that was passed to it: its result, or its JSON-RPC error. */
export type ServerAnswer =
  | {
      readonly kind: "result";
      readonly result: ResultBytes;
      /** Why the server lost its state for this client, when this result has to say so. */
      readonly loss?: string | undefined;
      /** How many of its tokens were kept back, when it was cut to its budget; an estimate. */
      readonly cutTokens?: number | undefined;
    }
  | { readonly kind: "error"; readonly error: JsonBytes };
