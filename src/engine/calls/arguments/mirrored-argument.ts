import { deepestJson } from "../../../kernel/limits.ts";
import { mirroredValue } from "../../../catalog/model/header-parameters.ts";
import { scanMembers } from "../../../wire/json/json-scan.ts";
import type { CallArguments } from "../../../kernel/call/call-context.ts";

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
