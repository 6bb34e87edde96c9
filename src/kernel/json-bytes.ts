/**
 * The UTF-8 text of exactly one JSON value, as the peer wrote it.
 *
 * What passes through the gateway passes as these bytes: they are cut out of one message and put into the next, so that
 * numbers (2^53+1, -0), key order and unknown fields survive. They are parsed only beside it.
 */
export type JsonBytes = Buffer;

export function toJsonBytes(value: unknown): JsonBytes {
  return Buffer.from(JSON.stringify(value), "utf8");
}

export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object that these bytes are; undefined for any other value, and for what is no JSON. */
export function parseJsonObject(bytes: JsonBytes): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8"));
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
