import type { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { serverOf, type Intent } from "../intent.ts";
import { withMetaEntries } from "../../../wire/json/spliced-json.ts";
import { deepestJson } from "../../../kernel/limits.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { openBracket } from "../../../wire/json/characters.ts";
import { noteBlock } from "../../../wire/mcp/shapes/own-names.ts";
import { findMember, scanMembers, skipSpace } from "../../../wire/json/json-scan.ts";

/** The key under which programs find the notice. */
const restartedKey = "toolyard/restarted";

/** The result of a call to a server that has lost what it held for the caller. */
export interface Loss {
  /** Why it was lost, as the end of a sentence. Undefined when nothing was. */
  readonly reason: string | undefined;
  readonly intent: Intent;
  /** Whether a model may read the result, and not just a program. */
  readonly forModel: boolean;
}

/**
 * The same result with a notice that the server has lost its state: in `_meta` for programs, and for models as one more
 * text block at the end of a tool's `content`. Every other byte stays.
 */
export function withLossTold(result: ResultBytes, { reason, intent, forModel }: Loss): ResultBytes {
  const server = reason === undefined ? undefined : serverOf(intent);
  if (server === undefined || reason === undefined) return result;
  const notice =
    `${server} was restarted since you last used it, and what it held for you (open pages, variables, connections) ` +
    `is gone: ${reason}.`;
  const told =
    forModel && isOfTool(intent)
      ? withNote(result.bytes, `Note from Toolyard: ${notice} Set up again what you need.`)
      : result.bytes;
  return result.with(withMetaEntries(told, { [restartedKey]: notice }));
}

function isOfTool(intent: Intent): boolean {
  return intent.kind === "call" || (intent.kind === "read" && intent.as === "tool");
}

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
