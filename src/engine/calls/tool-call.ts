import { traitsOf } from "../../config/entry/transports.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { CallArguments, CallContext } from "../../kernel/call/call-context.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { Validators } from "../validation/validators.ts";
import { checkArguments } from "./arguments/arguments.ts";
import type { MirrorArguments, MirroredHeaders } from "./arguments/mirrored-headers.ts";
import type { Relay } from "./relay.ts";
import { checkResult, type StructuredCheck } from "./results/result-check.ts";
import type { ResultChecks } from "./results/result-faults.ts";
import type { ServerAnswer, Target } from "./server-call.ts";

export interface ToolCallDeps {
  readonly relay: Relay;
  readonly validators: Validators;
  readonly checkStructured: StructuredCheck;
  readonly mirror: MirrorArguments;
  readonly limits: ResultChecks;
}

/** Checks the arguments of a call and sends it. Throws or rejects with GatewayErrors. */
export type SendToolCall = (
  tool: ToolEntry,
  instance: Instance,
  given: CallArguments,
  context: CallContext,
) => Promise<ServerAnswer>;

/**
 * Contains no async functions: this runs for every call, and each async function would cost it a promise and a
 * generator.
 */
export function createToolCalls(deps: ToolCallDeps): SendToolCall {
  function sendChecked(
    tool: ToolEntry,
    instance: Instance,
    checked: CallArguments,
    context: CallContext,
  ): Promise<ServerAnswer> {
    const name = asciiJson(tool.upstreamName);
    const own: readonly ParamMember[] =
      checked.bytes === undefined
        ? [["name", name]]
        : [
            ["name", name],
            ["arguments", checked.bytes],
          ];
    const params = context.extraParams === undefined ? own : [...own, ...context.extraParams];
    const answering = deps.relay({ instance, target: toTarget(tool, instance.server, checked), params, context });
    if (tool.definition.outputSchema === undefined) return answering;
    return answering.then((answer) => {
      if (answer.kind === "result") deps.checkStructured(tool, instance, answer.result);
      return answer;
    });
  }

  function toTarget(tool: ToolEntry, server: ServerConfig, given: CallArguments): Target {
    const mustParse = server.strictResults && tool.definition.outputSchema !== undefined;
    const { mirrorsHeaders } = traitsOf(server.transport);
    return {
      method: "tools/call",
      nameHeader: tool.upstreamName,
      headers: mirrorsHeaders ? deps.mirror(tool, given) : noHeaders,
      repeatable: isRepeatable(tool),
      binding: () => `tools/call ${tool.path} ${given.bytes?.toString("latin1") ?? ""}`,
      refetch: mirrorsHeaders,
      check: (result) => checkResult({ what: tool.path, method: "tools/call" }, result, deps.limits, mustParse),
    };
  }

  return (tool, instance, given, context) => {
    // Where one server is shown unchanged, that server itself refuses wrong arguments.
    const validators = context.transparent === true ? undefined : deps.validators;
    return sendChecked(tool, instance, checkArguments(validators, tool, given), context);
  };
}

function isRepeatable(tool: ToolEntry): boolean {
  const annotations = tool.definition.annotations;
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}

const noHeaders: MirroredHeaders = Object.freeze([]);
