import { deepestJson } from "../../kernel/limits.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { openBracket } from "../../wire/json/characters.ts";
import { findMember, scanMembers, skipSpace } from "../../wire/json/json-scan.ts";

/** The same result of a tool with one more text block at the end of its `content`. Every other byte stays. */
export function withLastBlock(result: JsonBytes, text: string): JsonBytes {
  const content = findMember(scanMembers(result, 0, result.length, deepestJson), "content");
  // A result without `content` so far, such as that of a task.
  if (content === undefined || result[content.start] !== openBracket) return result;
  const end = content.end - 1;
  const isEmpty = skipSpace(result, content.start + 1, end) === end;
  return Buffer.concat([
    result.subarray(0, end),
    Buffer.from(`${isEmpty ? "" : ","}${asciiJson({ type: "text", text })}`, "latin1"),
    result.subarray(end),
  ]);
}
