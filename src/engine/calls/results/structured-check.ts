import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import type { Validators } from "../../validation/validators.ts";

export interface StructuredCheckDeps {
  readonly validators: Validators;
  readonly events: EventBus;
}

/**
 * Checks whether a result's `structuredContent` fits the tool's `outputSchema`. A mismatch throws UPSTREAM_PROTOCOL
 * when `strictResults` is set, and otherwise only emits an event.
 */
export type StructuredCheck = (tool: ToolEntry, instance: Instance, result: ResultBytes) => void;

export function createStructuredCheck(deps: StructuredCheckDeps): StructuredCheck {
  return (tool, instance, result) => {
    const schema = tool.definition.outputSchema;
    const structured = result.known?.["structuredContent"];
    if (schema === undefined || structured === undefined || result.isError) return;
    const verdict = deps.validators.verdict(`${tool.hash}.output`, schema);
    if (verdict === "unvalidated") return;
    const problem = verdict.check(structured);
    if (problem === undefined) return;
    deps.events.emit({
      type: "result.schema_mismatch",
      ...instance.about(),
      tool: tool.path,
      reason: problem.message,
    });
    if (instance.server.strictResults)
      throw new GatewayError(
        "UPSTREAM_PROTOCOL",
        `the result of ${tool.path} does not fit its outputSchema: ${problem.message}`,
      );
  };
}
