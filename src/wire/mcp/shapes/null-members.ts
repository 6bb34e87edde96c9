import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { ExactNumber, parseExact, stringifyExact } from "../../json/exact-json.ts";

/** Members whose values are not the protocol's: null in them says something. */
const anyValue: ReadonlySet<string> = new Set([
  "_meta",
  "metadata",
  "data",
  "input",
  "structuredContent",
  "inputSchema",
  "outputSchema",
  "default",
  "const",
]);

/** The params of a notification without members that are null, which is how many languages write "absent". */
export function withoutNulls(params: JsonObject): JsonObject {
  for (const key in params) if (isAbsent(key, params[key])) return withoutAbsent(params, (value) => value);
  return params;
}

/**
 * The params of a request without members that are null, at any depth, because the client that is asked may refuse
 * them. Values of the server's own, such as those in `_meta` and `metadata`, stay as they are. The same bytes when
 * there is nothing to leave out, or they are no JSON object.
 */
export function withoutNullMembers(params: JsonBytes): JsonBytes {
  if (!params.includes("null")) return params;
  try {
    const parsed = parseExact(params.toString("utf8"));
    return isJsonObject(parsed) ? Buffer.from(stringifyExact(withoutNullsWithin(parsed)), "utf8") : params;
  } catch {
    return params;
  }
}

/** The same for a request that was parsed already. */
export function withoutNullsWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullsWithin);
  return isJsonObject(value) && !(value instanceof ExactNumber) ? withoutAbsent(value, withoutNullsWithin) : value;
}

function withoutAbsent(object: JsonObject, clean: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(object)
      .filter(([key, value]) => !isAbsent(key, value))
      .map(([key, value]) => [key, anyValue.has(key) ? value : clean(value)]),
  );
}

/** Null is data only where the protocol says that any value may be there; `_meta` and the like are objects. */
function isAbsent(key: string, value: unknown): boolean {
  return value === null && !nullable.has(key);
}

const nullable: ReadonlySet<string> = new Set(["data", "const"]);

/**
 * What a client declares, without members that are null, which is how many languages write an absent one: the
 * capabilities, and the modes of one. The same object where there are none.
 */
export function capabilitiesWithoutNulls(capabilities: JsonObject): JsonObject {
  const entries = Object.entries(capabilities);
  if (!entries.some(([, declared]) => holdsNull(declared))) return capabilities;
  return present(entries.map(([name, declared]) => [name, isJsonObject(declared) ? withoutNull(declared) : declared]));
}

function holdsNull(declared: unknown): boolean {
  return declared === null || (isJsonObject(declared) && Object.values(declared).includes(null));
}

function withoutNull(declared: JsonObject): JsonObject {
  return present(Object.entries(declared));
}

function present(entries: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}
