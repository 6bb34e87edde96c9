import type { ToolEntry } from "../catalog/snapshot.ts";
import { dropDuplicateKeys } from "../protocol/duplicate-keys.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import { isJsonObject, type JsonBytes } from "../shared/json-bytes.ts";
import type { Verdict } from "./validation/validator-cache.ts";
import type { Validators } from "./validation/validators.ts";

export interface ArgumentCheck {
  readonly validators: Validators;
}

/** Arguments that may go to the server: the bytes to send, and what they say. */
export interface CheckedArguments {
  readonly bytes: JsonBytes | undefined;
  readonly value: unknown;
}

/**
 * Checks arguments against the tool's schema before the server sees them. At once when the schema is compiled, which it is after
 * the first call. Throws or rejects with ARGUMENTS_INVALID; a schema that cannot be compiled safely means no check.
 */
export function checkArguments(check: ArgumentCheck, tool: ToolEntry, given: JsonBytes | undefined, signal: AbortSignal): CheckedArguments | Promise<CheckedArguments> {
  const value: unknown = given === undefined ? {} : parse(tool, given);
  if (!isJsonObject(value)) throw invalid(tool, "", "arguments must be an object");
  const args: CheckedArguments = { bytes: given === undefined ? undefined : dropDuplicateKeys(given, value), value };
  const known = check.validators.lookup(tool.hash);
  if (known !== undefined) return judge(tool, args, known);
  return check.validators.prepare(tool.hash, tool.definition.inputSchema, signal).then((verdict) => judge(tool, args, verdict));
}

function judge(tool: ToolEntry, args: CheckedArguments, verdict: Verdict): CheckedArguments {
  if (verdict === "unvalidated") return args;
  const problem = verdict.check(args.value);
  if (problem !== undefined) throw invalid(tool, problem.path, problem.message);
  return args;
}

function parse(tool: ToolEntry, given: JsonBytes): unknown {
  try {
    return JSON.parse(given.toString("utf8"));
  } catch {
    throw invalid(tool, "", "arguments are no valid JSON");
  }
}

/** The exposure adds the signature: how a tool reads is its business. */
function invalid(tool: ToolEntry, path: string, message: string): GatewayError {
  return new GatewayError("ARGUMENTS_INVALID", `${tool.path} was not called: ${message}`, { data: { field: path, tool_path: tool.path } });
}
