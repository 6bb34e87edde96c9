/**
 * The UTF-8 text of exactly one JSON value, as its sender wrote it.
 *
 * Values that pass through the gateway are cut out of one message as bytes and put into the next, so that numbers
 * (2^53+1, -0), key order and unknown fields survive. They are parsed only for checks.
 */
export type JsonBytes = Buffer;

/** The bytes of a value that the gateway itself made. */
export function toJsonBytes(value: unknown): JsonBytes {
  return Buffer.from(JSON.stringify(value), "utf8");
}

/** A parsed JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

/** Whether a parsed value is an object, and neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a text; undefined for one that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

/** Parses bytes that should be an object. Undefined when they are another value, or not JSON. */
export function parseJsonObject(bytes: JsonBytes): JsonObject | undefined {
  const parsed = parseJson(bytes.toString("utf8"));
  return isJsonObject(parsed) ? parsed : undefined;
}
