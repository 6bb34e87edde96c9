import { deepestJson } from "../../../kernel/limits.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { openBracket } from "../../../wire/json/characters.ts";
import { noteBlock } from "../../../wire/mcp/shapes/own-names.ts";
import { findMember, scanMembers, skipSpace } from "../../../wire/json/json-scan.ts";

/**
 * The same result of a tool with a note of the gateway as one more block at the end, or the beginning, of its
 * `content`. What the block has in `_meta` no server can write. Every other byte stays.
 */
export function withNote(result: JsonBytes, text: string, at: "end" | "beginning" = "end"): JsonBytes {
  const content = findMember(scanMembers(result, 0, result.length, deepestJson), "content");
  // A result without `content` so far, such as that of a task.
  if (content === undefined || result[content.start] !== openBracket) return result;
  const end = content.end - 1;
  const isEmpty = skipSpace(result, content.start + 1, end) === end;
  const block = asciiJson(noteBlock(text));
  const [place, added] =
    at === "end" ? [end, `${isEmpty ? "" : ","}${block}`] : [content.start + 1, `${block}${isEmpty ? "" : ","}`];
  return Buffer.concat([result.subarray(0, place), Buffer.from(added, "latin1"), result.subarray(place)]);
}
