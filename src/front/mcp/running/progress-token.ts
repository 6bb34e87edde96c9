import { deepestJson } from "../../../kernel/limits.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { findMember, scanMembers } from "../../../wire/json/json-scan.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";

/**
 * A question's params with our token in place of the server's: two servers may have given the same one. Every other
 * byte stays.
 */
export function withProgressToken(params: JsonBytes, token: string): string {
  const meta = findMember(scanMembers(params, 0, params.length, deepestJson), "_meta");
  const given =
    meta === undefined
      ? undefined
      : findMember(scanMembers(params, meta.start, meta.end, deepestJson), metaKeys.progressToken);
  if (given === undefined) return params.toString("latin1");
  return `${params.toString("latin1", 0, given.start)}${asciiJson(token)}${params.toString("latin1", given.end)}`;
}
