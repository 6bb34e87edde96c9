import { deepestJson } from "../../../kernel/limits.ts";
import { openBrace } from "../../../wire/json/characters.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { findMember, scanMembers, skipSpace } from "../../../wire/json/json-scan.ts";
import type { JsonBytes, JsonObject } from "../../../kernel/text/json-bytes.ts";

/** The same result with members inserted at the beginning of its `_meta`. Every other byte stays. */
export function withMetaEntries(result: JsonBytes, entries: JsonObject): JsonBytes {
  return withEntries(result, "_meta", entries);
}

/**
 * The same object with members inserted at the beginning of one of its own members, which is an object or absent; any
 * other value there is replaced. Every other byte stays.
 */
export function withEntries(result: JsonBytes, within: string, entries: JsonObject): JsonBytes {
  const members = scanMembers(result, 0, result.length, deepestJson);
  const text = asciiJson(entries).slice(1, -1);
  const meta = findMember(members, within);
  if (meta === undefined)
    return Buffer.concat([
      Buffer.from(`{${asciiJson(within)}:{${text}}${members.length > 0 ? "," : ""}`, "latin1"),
      result.subarray(result.indexOf(openBrace) + 1),
    ]);
  // A `_meta` that is no object violates the protocol, so that nothing of it is worth keeping.
  if (result[meta.start] !== openBrace)
    return Buffer.concat([
      result.subarray(0, meta.start),
      Buffer.from(`{${text}}`, "latin1"),
      result.subarray(meta.end),
    ]);
  const isEmpty = skipSpace(result, meta.start + 1, meta.end - 1) === meta.end - 1;
  return Buffer.concat([
    result.subarray(0, meta.start + 1),
    Buffer.from(`${text}${isEmpty ? "" : ","}`, "latin1"),
    result.subarray(meta.start + 1),
  ]);
}
