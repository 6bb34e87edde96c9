import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";

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
