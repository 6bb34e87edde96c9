import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { parseExact, stringifyExact } from "../../json/exact-json.ts";

/** Under which a program finds that a block of a result is the gateway's own note. */
export const noteKey = "toolyard/note";

/** A note of the gateway among the texts of a server. */
export function noteBlock(text: string): JsonObject {
  return { type: "text", text, _meta: { [noteKey]: true } };
}

/** No own name is longer. */
const mostRead = 100;
/** Neither left out nor composed to the first letter of an own name: nearly all names, in a tenth of the time. */
const otherBeginning = /^[!-SU-su-~]/;

/**
 * Whether a name in `_meta` or `data` is one of the gateway's own, which no server may write, in any spelling that a
 * reader may take for it.
 */
export function isOwnName(key: string): boolean {
  if (otherBeginning.test(key)) return false;
  const plain = key
    .slice(0, mostRead)
    .normalize("NFKC")
    .replace(/[\p{C}\p{M}\s]/gu, "");
  return plain.toLowerCase().startsWith("toolyard/");
}

/** The same without the gateway's own names, except those in `kept`. The same object when it has none. */
export function withoutOwnNames(object: JsonObject, kept?: string): JsonObject {
  for (const key in object)
    if (key !== kept && isOwnName(key))
      return Object.fromEntries(Object.entries(object).filter(([name]) => name === kept || !isOwnName(name)));
  return object;
}

/** Params of a server's message, with a `_meta` that has none of the gateway's names. */
export function withoutOwnMeta(params: JsonObject): JsonObject {
  const meta = params["_meta"];
  if (!isJsonObject(meta)) return params;
  const kept = withoutOwnNames(meta);
  return kept === meta ? params : { ...params, _meta: kept };
}

/**
 * An object that a server sent as bytes, of which one member (`_meta` of params, `data` of an error) has none of the
 * gateway's names. The same bytes when there is nothing to leave out, or they are no JSON object.
 */
export function withoutOwnNamesIn(bytes: JsonBytes, member: "_meta" | "data"): JsonBytes {
  // A name may be written with escapes.
  if (!bytes.includes(member) && !bytes.includes("\\u")) return bytes;
  try {
    const parsed = parseExact(bytes.toString("utf8"));
    const within = isJsonObject(parsed) ? parsed[member] : undefined;
    if (!isJsonObject(parsed) || !isJsonObject(within)) return bytes;
    const kept = withoutOwnNames(within);
    return kept === within ? bytes : Buffer.from(stringifyExact({ ...parsed, [member]: kept }), "utf8");
  } catch {
    return bytes;
  }
}
