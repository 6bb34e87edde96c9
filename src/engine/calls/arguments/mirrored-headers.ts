import { headerParameters, type HeaderParameter, mirroredValue } from "../../../catalog/model/header-parameters.ts";
import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { CallArguments } from "../../../kernel/call/call-context.ts";
import { deepestJson } from "../../../kernel/limits.ts";
import { scanMembers } from "../../../wire/json/json-scan.ts";

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

/**
 * The value of a mirrored argument for its header. Undefined when the argument is absent. A number keeps its own
 * text, because the server compares the header with the body, which has every digit.
 */
export function headerValue(path: readonly string[], { bytes, value }: CallArguments): string | undefined {
  const found = mirroredValue(path, value);
  if (found === undefined) return undefined;
  return typeof found === "number" && bytes !== undefined ? textAt(bytes, path) : String(found);
}

function textAt(bytes: Buffer, path: readonly string[]): string | undefined {
  let at = { start: 0, end: bytes.length };
  for (const name of path) {
    const member = scanMembers(bytes, at.start, at.end, deepestJson).findLast(({ key }) => key === name);
    if (member === undefined) return undefined;
    at = member;
  }
  return bytes.toString("latin1", at.start, at.end);
}
