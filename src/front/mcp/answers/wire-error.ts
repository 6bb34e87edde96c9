import { wantedScope } from "../../../engine/policy/scopes.ts";
import { failureBody, rpcCodes } from "../../../wire/mcp/error-object.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { failures, type FailureCode } from "../../../kernel/failures/failures.ts";
import type { ReplyBody } from "../caller.ts";

/** Codes of JSON-RPC that leave with an HTTP status of their own in the modern era (2026-07-28, streamable-http). */
const modernStatus: ReadonlySet<FailureCode> = new Set([
  "PARSE_ERROR",
  "REQUEST_INVALID",
  "METHOD_UNKNOWN",
  "HEADER_MISMATCH",
  "CAPABILITY_MISSING",
  "VERSION_UNSUPPORTED",
]);

/** A failure of ours as a JSON-RPC error. Legacy clients get HTTP 200 with it (docs/design.md, "Eras"). */
export function toWireError(error: GatewayError, era: Era, method: string): ReplyBody {
  const row = failures[error.code];
  const body = failureBody(error, wireCode(error.code, era, method));
  // The authorization of either era is that of HTTP.
  const scope = wantedScope(error);
  if (scope !== undefined) return { body, status: row.http, scope };
  return { body, status: era === "modern" && modernStatus.has(error.code) ? row.http : 200 };
}

/** Where the protocol has a code of its own for what happened, it is that one. */
function wireCode(code: FailureCode, era: Era, method: string): number {
  if (code === "RESOURCE_UNKNOWN" && method === "resources/read")
    return era === "legacy" ? rpcCodes.resourceNotFound : rpcCodes.invalidParams;
  if (code === "PROMPT_UNKNOWN" || code === "CURSOR_INVALID" || code === "HANDLE_INVALID")
    return rpcCodes.invalidParams;
  return failures[code].rpc;
}
