import { openBrace, openBracket } from "../wire/json/characters.ts";
import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import { skipSpace, skipValue } from "../wire/json/json-scan.ts";
import { requireFewParts } from "../wire/json/json-parts.ts";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import { tellDepthLimit } from "../kernel/limits.ts";
import { isJsonObject, type JsonObject } from "../kernel/text/json-bytes.ts";

/** Judging and parsing take no longer than a few milliseconds below it. */
const largeBody = 524_288;

/**
 * The object that a body holds (faults 2, 3, 14, 17). Throws PARSE_ERROR, REQUEST_INVALID, BODY_TOO_COMPLEX or
 * BODY_TOO_DEEP before anything is built. What puts a large body together, what judges it, what parses it and what uses
 * it have a turn of the event loop each.
 */
export async function readJsonBody(bytes: Buffer, maxDepth: number): Promise<JsonObject> {
  const isLarge = bytes.length > largeBody;
  if (isLarge) await nextTurn();
  requireObject(bytes, maxDepth);
  if (isLarge) await nextTurn();
  const value = parse(bytes);
  if (isLarge) await nextTurn();
  return value;
}

function requireObject(bytes: Buffer, maxDepth: number): void {
  if (!isUtf8(bytes)) throw new GatewayError("PARSE_ERROR", "the body is not valid UTF-8", { hint });
  const first = skipSpace(bytes, 0, bytes.length);
  if (bytes[first] === openBracket)
    throw new GatewayError("REQUEST_INVALID", "the body is not a JSON object", { hint });
  // JSON.parse would build a million levels.
  if (bytes[first] !== openBrace) return;
  try {
    requireFewParts(bytes, maxDepth);
    skipValue(bytes, first, bytes.length, maxDepth);
  } catch (error) {
    throw tellDepthLimit(error, maxDepth);
  }
}

function parse(bytes: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new GatewayError("PARSE_ERROR", "the body is not valid JSON", { hint });
  }
  if (!isJsonObject(value)) throw new GatewayError("REQUEST_INVALID", "the body is not a JSON object", { hint });
  return value;
}

const hint = "Send one JSON object as valid UTF-8.";
