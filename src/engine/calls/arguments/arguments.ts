import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import { dropDuplicateKeys } from "../../../wire/json/duplicate-keys.ts";
import type { CallArguments } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Validators } from "../../validation/validators.ts";

/**
 * Checks arguments against the tool's schema before the server sees them. Without validators, it only makes sure that
 * every reader sees the same value of a duplicate key. Throws ARGUMENTS_INVALID. What of a schema cannot be checked is
 * left out.
 */
export function checkArguments(
  validators: Validators | undefined,
  tool: ToolEntry,
  given: CallArguments,
): CallArguments {
  const { bytes, value } = given;
  if (!isJsonObject(value)) throw invalid(tool, "", "arguments must be an object");
  const unique = bytes === undefined ? undefined : dropDuplicateKeys(bytes, value);
  const verdict = validators?.verdict(tool.hash, tool.definition.inputSchema) ?? "unvalidated";
  const problem = verdict === "unvalidated" ? undefined : verdict.check(value);
  if (problem !== undefined) throw invalid(tool, problem.path, problem.message);
  return unique === bytes ? given : { bytes: unique, value };
}

/** The exposure adds the tool's signature, because only it knows how its client sees the tool. */
function invalid(tool: ToolEntry, path: string, message: string): GatewayError {
  return new GatewayError("ARGUMENTS_INVALID", `${tool.path} was not called: ${message}`, {
    data: { field: path, tool_path: tool.path },
  });
}
