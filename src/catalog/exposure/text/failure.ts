import type { View } from "../../model/view.ts";
import type { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { FailureCode } from "../../../kernel/failures/failures.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { toSignature } from "./signature.ts";

/**
 * Failures that no model can mend. These leave as JSON-RPC errors, all others as a result with `isError`
 * (docs/design.md, "Errors").
 */
const protocolFailures: ReadonlySet<FailureCode> = new Set([
  "PARSE_ERROR",
  "REQUEST_INVALID",
  "METHOD_UNKNOWN",
  "PARAMS_INVALID",
  "INTERNAL",
  "HEADER_MISMATCH",
  "CAPABILITY_MISSING",
  "VERSION_UNSUPPORTED",
  "UPSTREAM_PROTOCOL",
  "CALL_CANCELLED",
  "HANDLE_INVALID",
  "SCOPE_INSUFFICIENT",
]);

/** Whether a model can do something about this failure, so that it is shown as a tool result. */
export function isForModel(error: GatewayError): boolean {
  return !protocolFailures.has(error.code);
}

/**
 * The failure as the text of a tool result: `{ code, message, hint, … }`, with the tool's signature where the
 * arguments did not fit it.
 */
export function renderFailure(error: GatewayError, view: View | undefined): JsonObject {
  const path = error.data?.["tool_path"];
  const tool = error.code === "ARGUMENTS_INVALID" && typeof path === "string" ? view?.names.find(path) : undefined;
  const signature =
    tool?.kind === "one"
      ? { signature: toSignature(tool.tool.definition.inputSchema, { maxTokens: signatureTokens }).text }
      : {};
  const own = { code: error.code, message: error.message, hint: error.hint };
  // A failure's facts never replace the gateway's own members: some facts have a `code` that comes from the operating
  // system.
  const text = { ...own, ...error.data, ...signature, ...own };
  return { content: [{ type: "text", text: JSON.stringify(text) }], isError: true };
}

const signatureTokens = 400;
