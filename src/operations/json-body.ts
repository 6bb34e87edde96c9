import { carriageReturn, lineFeed, openBrace, openBracket, space, tab } from "../wire/json/characters.ts";
import { isUtf8 } from "node:buffer";
import { scanMembers, type Member } from "../wire/json/json-scan.ts";
import { requireFewParts } from "../wire/json/json-parts.ts";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import { tellDepthLimit } from "../kernel/limits.ts";
import { isJsonObject, type JsonObject } from "../kernel/text/json-bytes.ts";

/** A body as bytes and as a value. */
export interface JsonBody {
  readonly value: JsonObject;
  /** The positions of the members of `value` in the bytes. */
  readonly members: readonly Member[];
}

/**
 * Parses a body that must be an object (faults 2, 3, 14, 17). Throws PARSE_ERROR, REQUEST_INVALID, or BODY_TOO_DEEP
 * before anything is built.
 */
export function parseJsonBody(bytes: Buffer, maxDepth: number): JsonBody {
  if (!isUtf8(bytes)) throw new GatewayError("PARSE_ERROR", "the body is not valid UTF-8", { hint });
  const first = bytes.find((byte) => byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab);
  // The scan comes first because it checks the depth. JSON.parse would build a million levels.
  const members = first === openBrace ? scan(bytes, maxDepth) : [];
  if (first === openBracket) throw new GatewayError("REQUEST_INVALID", "the body is not a JSON object", { hint });
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new GatewayError("PARSE_ERROR", "the body is not valid JSON", { hint });
  }
  if (!isJsonObject(value)) throw new GatewayError("REQUEST_INVALID", "the body is not a JSON object", { hint });
  return { value, members };
}

function scan(bytes: Buffer, maxDepth: number): readonly Member[] {
  try {
    requireFewParts(bytes, maxDepth);
    return scanMembers(bytes, 0, bytes.length, maxDepth - 1);
  } catch (error) {
    throw tellDepthLimit(error, maxDepth);
  }
}

const hint = "Send one JSON object as valid UTF-8.";
