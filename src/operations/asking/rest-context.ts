import type { CallContext } from "../../kernel/call/call-context.ts";
import type { Principal } from "../../kernel/principal.ts";
import { newestLegacyRevision } from "../../wire/mcp/revisions.ts";

/** A REST client says nothing of itself, and can be asked nothing unless its request says so. */
export function restContext(
  principal: Principal,
  signal: AbortSignal,
  more?: Pick<CallContext, "onProgress" | "onLog" | "meta">,
): CallContext {
  return { principal, signal, client: restClient, via: "rest", waitedMs: 0, forProgram: true, ...more };
}

export const restClient: CallContext["client"] = Object.freeze({
  era: "legacy",
  revision: newestLegacyRevision,
  capabilities: Object.freeze({}),
});
