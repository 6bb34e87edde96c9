import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import { dropDuplicateKeys } from "../../../wire/json/duplicate-keys.ts";
import type { CallArguments } from "../../../kernel/call/call-arguments.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Verdict } from "../../validation/validator-cache.ts";
import type { Validators } from "../../validation/validators.ts";

/**
 * Checks arguments against the tool's schema before the server sees them. Synchronous once the schema is compiled,
 * which it is soon after the first call: that one does not wait where the arguments fit what the schema says without
 * the compiler, and where they do not, the whole check judges them. Without validators, it only makes sure that every
 * reader sees the same value of a duplicate key. Throws or rejects with ARGUMENTS_INVALID. A schema that cannot be
 * compiled safely is not checked.
 */
export function checkArguments(
  validators: Validators | undefined,
  tool: ToolEntry,
  given: CallArguments,
  signal: AbortSignal,
): CallArguments | Promise<CallArguments> {
  const { bytes, value } = given;
  if (!isJsonObject(value)) throw invalid(tool, "", "arguments must be an object");
  const unique = bytes === undefined ? undefined : dropDuplicateKeys(bytes, value);
  const args = unique === bytes ? given : { bytes: unique, value };
  if (validators === undefined) return args;
  const known = validators.lookup(tool.hash);
  if (known !== undefined) return judge(tool, args, known);
  const { inputSchema } = tool.definition;
  if (validators.fitsMeanwhile(tool.hash, inputSchema, value)) return args;
  return validators.prepare(tool.hash, inputSchema, signal).then((verdict) => judge(tool, args, verdict));
}

/** More tools than a model is shown at once; the worker that compiles takes a few milliseconds for each. */
const mostMadeReady = 20;

/**
 * Prepares the checks of tools that may be called next, so that no call waits while the worker starts and compiles. One
 * after the other, and no more once anything else waits for the worker: actual calls go before possible ones, and a
 * schema that uses up its whole time limit delays calls no more than a call of that tool would. Checks that are not
 * prepared are left to the call. Never rejects.
 */
export async function makeReady(validators: Validators, tools: readonly ToolEntry[]): Promise<void> {
  const { signal } = new AbortController();
  for (const { hash, definition } of tools.slice(0, mostMadeReady)) {
    if (validators.lookup(hash) !== undefined) continue;
    if (validators.isCompiling) return;
    const isReady = validators.prepare(hash, definition.inputSchema, signal);
    if ((await isReady.catch(() => undefined)) === undefined) return;
  }
}

function judge(tool: ToolEntry, args: CallArguments, verdict: Verdict): CallArguments {
  if (verdict === "unvalidated") return args;
  const problem = verdict.check(args.value);
  if (problem !== undefined) throw invalid(tool, problem.path, problem.message);
  return args;
}

/** The exposure adds the tool's signature, because only it knows how its client sees the tool. */
function invalid(tool: ToolEntry, path: string, message: string): GatewayError {
  return new GatewayError("ARGUMENTS_INVALID", `${tool.path} was not called: ${message}`, {
    data: { field: path, tool_path: tool.path },
  });
}
