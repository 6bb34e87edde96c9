import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";

/**
 * Whether a part of a schema may mean something else to a server that checks formats. `format` is an annotation (JSON
 * Schema 2020-12, validation, 7.2.1), so that alternatives which only their formats tell apart look alike here: where
 * fitting too much would be a fault (`oneOf`, `not`, `if`), such a part must not decide.
 *
 * @param root the whole schema, which references lead into
 */
export type FormatSearch = (part: unknown) => boolean;

export function createFormatSearch(root: JsonObject): FormatSearch {
  let inRoot: boolean | undefined;
  return (part) => names(part, isFormat) || (names(part, isReference) && (inRoot ??= names(root, isFormat)));
}

function isFormat(schema: JsonObject): boolean {
  return typeof schema["format"] === "string";
}

function isReference(schema: JsonObject): boolean {
  return references.some((keyword) => typeof schema[keyword] === "string");
}

const references: readonly string[] = ["$ref", "$dynamicRef", "$recursiveRef"];

/** Without recursion: nobody has looked yet how deep the schema is. */
function names(root: unknown, isIt: (schema: JsonObject) => boolean): boolean {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== "object" || value === null) continue;
    if (isJsonObject(value) && isIt(value)) return true;
    for (const member of Object.values(value)) stack.push(member);
  }
  return false;
}
