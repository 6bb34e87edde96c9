import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/**
 * What a client declares, without members that are null, which is how many languages write an absent one: the
 * capabilities, and the modes of one. The same object where there are none.
 */
export function withoutNulls(capabilities: JsonObject): JsonObject {
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
