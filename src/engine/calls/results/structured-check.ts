import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { EventBus } from "../../../kernel/events/event-bus.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
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
export type StructuredCheck = (
  tool: ToolEntry,
  instance: Instance,
  result: ResultBytes,
  signal: AbortSignal,
) => Promise<void>;

/** With `strictResults`, waits for the schema to be compiled. Otherwise the first results go unchecked. */
export function createStructuredCheck(deps: StructuredCheckDeps): StructuredCheck {
  /**
   * Without `strictResults` a mismatch is only recorded, so that the first result does not wait for its schema to be
   * compiled.
   */
  function prepareLater(key: string, schema: JsonObject): undefined {
    deps.validators.prepare(key, schema, AbortSignal.timeout(10_000)).catch(() => undefined);
  }

  return async (tool, instance, result, signal) => {
    const schema = tool.definition.outputSchema;
    const structured = result.known?.["structuredContent"];
    if (schema === undefined || structured === undefined || result.isError) return;
    const key = `${tool.hash}.output`;
    const { strictResults } = instance.server;
    const verdict =
      deps.validators.lookup(key) ??
      (strictResults ? await deps.validators.prepare(key, schema, signal) : prepareLater(key, schema));
    if (verdict === "unvalidated" || verdict === undefined) return;
    const problem = verdict.check(structured);
    if (problem === undefined) return;
    deps.events.emit({
      type: "result.schema_mismatch",
      ...instance.about(),
      tool: tool.path,
      reason: problem.message,
    });
    if (strictResults)
      throw new GatewayError(
        "UPSTREAM_PROTOCOL",
        `the result of ${tool.path} does not fit its outputSchema: ${problem.message}`,
      );
  };
}
