import { closeBrace } from "../../wire/json/characters.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { scanFor } from "../../wire/json/json-scan.ts";
import { deepestJson } from "../../kernel/limits.ts";
import type { JsonBytes, JsonObject } from "../../kernel/json-bytes.ts";

/**
 * The result of a tool with `content` made of `toolResult`, in which servers of the first revision put what a tool
 * said, as any value (2024-10-07, schema, CallToolResult). Everything else stays as it was written. The same bytes for
 * a result that has a `content` or no such member. `parsed` is what the bytes contain.
 */
export function withContentOfToolResult(result: JsonBytes, parsed: JsonObject): JsonBytes {
  if (parsed["content"] !== undefined || parsed["toolResult"] === undefined || parsed["toolResult"] === null)
    return result;
  const said = parsed["toolResult"];
  const content = asciiJson([{ type: "text", text: typeof said === "string" ? said : writtenIn(result) }]);
  const end = result.lastIndexOf(closeBrace);
  return Buffer.concat([result.subarray(0, end), Buffer.from(`,"content":${content}}`, "latin1")]);
}

/** As text, numbers are as exact as the server wrote them. */
function writtenIn(result: JsonBytes): string {
  const member = scanFor(result, 0, result.length, deepestJson, "toolResult");
  return member === undefined ? "" : result.toString("utf8", member.start, member.end);
}
