import { failures } from "../../../kernel/failures/failures.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { errorBody, isErrorObject, parseErrorObject, rpcCodes } from "../../../wire/mcp/error-object.ts";
import type { ReplyBody } from "../caller.ts";

/**
 * A server's error, unchanged but for what concerns only our hop to it, and for codes that this revision must not see
 * (docs/design.md, "Errors").
 */
export function relayError(error: JsonBytes, era: Era): ReplyBody {
  const parsed = parseErrorObject(error);
  if (parsed.code === rpcCodes.headerMismatch || parsed.code === rpcCodes.unsupportedVersion) {
    return {
      body: errorBody({
        ...parsed,
        code: failures.UPSTREAM_PROTOCOL.rpc,
        message: `the server refused what the gateway sent: ${parsed.message}`,
      }),
      status: 200,
    };
  }
  if (parsed.code === failures.CAPABILITY_MISSING.rpc && era === "legacy")
    return { body: errorBody({ ...parsed, code: failures.CLIENT_CANNOT_ANSWER.rpc }), status: 200 };
  if (
    (parsed.code === rpcCodes.resourceNotFound || parsed.code === rpcCodes.urlElicitationRequired) &&
    era === "modern"
  )
    return { body: errorBody({ ...parsed, code: rpcCodes.invalidParams }), status: 200 };
  return {
    body: isErrorObject(error) ? `"error":${error.toString("latin1")}` : errorBody(parsed),
    status: era === "modern" ? (relayedStatus[parsed.code] ?? 200) : 200,
  };
}

/** A server's own error codes that have an HTTP status of their own (2026-07-28, streamable-http). */
const relayedStatus: Readonly<Record<number, number>> = Object.freeze({
  [failures.CAPABILITY_MISSING.rpc]: failures.CAPABILITY_MISSING.http,
  [failures.METHOD_UNKNOWN.rpc]: failures.METHOD_UNKNOWN.http,
});
