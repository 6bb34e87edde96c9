import { failures } from "../../kernel/failures/failures.ts";

/** Error codes of JSON-RPC and MCP by name. The codes of the gateway's own failures are in the table of failures. */
export const rpcCodes = Object.freeze({
  /** JSON-RPC 2.0, section 5.1. */
  parseError: failures.PARSE_ERROR.rpc,
  invalidRequest: failures.REQUEST_INVALID.rpc,
  methodNotFound: failures.METHOD_UNKNOWN.rpc,
  invalidParams: failures.PARAMS_INVALID.rpc,
  internalError: failures.INTERNAL.rpc,
  /** The code that many servers use for every error without a code of its own. */
  serverError: -32_000,
  /** 2025-11-25, server/resources. The modern revision uses invalidParams instead. */
  resourceNotFound: -32_002,
  /** 2025-11-25, client/elicitation: a person has to open a URL before the request can succeed. */
  urlElicitationRequired: -32_042,
  /** 2026-07-28, basic/index, error codes. */
  headerMismatch: failures.HEADER_MISMATCH.rpc,
  missingCapability: failures.CAPABILITY_MISSING.rpc,
  unsupportedVersion: failures.VERSION_UNSUPPORTED.rpc,
});
