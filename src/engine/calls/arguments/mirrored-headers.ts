import { headerParameters, type HeaderParameter } from "../../../catalog/model/header-parameters.ts";
import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { CallArguments } from "../../../kernel/call/call-context.ts";
import { headerValue } from "./mirrored-argument.ts";

/** Name without `Mcp-Param-`, and value before it is coded. */
export type MirroredHeaders = readonly (readonly [name: string, value: string])[];

/** The arguments of a call that its tool wants repeated in headers. */
export type MirrorArguments = (tool: ToolEntry, given: CallArguments) => MirroredHeaders;

/** 2026-07-28, streamable-http, client behavior for custom headers. Looked up once for each definition. */
export function createMirrorArguments(): MirrorArguments {
  const known = new WeakMap<ToolEntry, readonly HeaderParameter[]>();
  return (tool, given) => {
    let parameters = known.get(tool);
    if (parameters === undefined) known.set(tool, (parameters = headerParameters(tool.definition.inputSchema)));
    return parameters.flatMap((parameter) => {
      const value = headerValue(parameter.path, given);
      return value === undefined ? [] : [[parameter.name, value] as const];
    });
  };
}
