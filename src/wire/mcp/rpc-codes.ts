import { failures } from "../../kernel/failures.ts";

/**
 * The numbers of JSON-RPC and of MCP's own errors, by name. Those that the gateway fails with itself stand in the
 * table of failures.
 */
export const rpcCodes = Object.freeze({
  /** JSON-RPC 2.0, section 5.1. */
  parseError: failures.PARSE_ERROR.rpc,
  invalidRequest: failures.REQUEST_INVALID.rpc,
  methodNotFound: failures.METHOD_UNKNOWN.rpc,
  invalidParams: failures.PARAMS_INVALID.rpc,
  internalError: failures.INTERNAL.rpc,
  /** What many servers say for everything that has no number of its own. */
  serverError: -32_000,
  /** 2025-11-25, server/resources. The modern era says invalidParams. */
  resourceNotFound: -32_002,
  /** 2025-11-25, client/elicitation: a person has to open a URL first. */
  urlElicitationRequired: -32_042,
  /** 2026-07-28, basic/index, error codes. */
  headerMismatch: failures.HEADER_MISMATCH.rpc,
  missingCapability: failures.CAPABILITY_MISSING.rpc,
  unsupportedVersion: failures.VERSION_UNSUPPORTED.rpc,
});
