import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { annotations, definitionLists, keywords } from "./plain-keywords.ts";

/** Parts that are looked at, and levels, as of plain schemas. What is beyond may be anything. */
const partLimit = 2_000;
const depthLimit = 64;

/** Keywords of a part that change what its others mean: such a part may be anything. */
const estranging: readonly string[] = ["nullable", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];
/** References are followed within the whole only, so that its own identifiers change nothing. */
const estrangingAll: readonly string[] = ["nullable"];
/** The whole, or a definition by a name in which nothing has to be decoded. */
const followed = /^#(?:\/(?:\$defs|definitions)\/[\w.$-]+)?$/;

/** Whether a schema needs no compiler. */
type IsPlain = (schema: JsonObject) => boolean;

/**
 * What a schema says that needs no compiler, as a schema of its own: whatever fits the given one fits this one. What
 * only the compiler knows is left out, and with it what would be stricter alone: a `not` or `oneOf` in which something
 * was left out, and what `additionalProperties` and `items` say of the members that other keywords do not describe.
 */
export function plainPartOf(root: JsonObject, isPlain: IsPlain): JsonObject {
  const dialect = root["$schema"];
  const areReferencesAlone = typeof dialect === "string" && dialect.includes("draft-0");
  let parts = 0;
  /** How often something was left out, or a reference was kept: what it means may have been left out elsewhere. */
  let gaps = 0;

  function partOf(schema: unknown, depth: number): JsonObject | true {
    parts += 1;
    if (schema === true) return true;
    const strange = depth === 0 ? estrangingAll : estranging;
    if (!isJsonObject(schema) || parts > partLimit || depth > depthLimit || strange.some((key) => key in schema)) {
      gaps += 1;
      return true;
    }
    const isReference = areReferencesAlone && schema["$ref"] !== undefined;
    const said = Object.keys(schema).filter(
      (key) => !annotations.has(key) && !key.startsWith("x-") && !(isReference && keywords.has(key) && key !== "$ref"),
    );
    const kept: Record<string, unknown> = {};
    let choices: unknown;
    for (const keyword of said) {
      const before = gaps;
      const value = valueOf(schema, keyword, depth);
      if (value === undefined) gaps += 1;
      else if (gaps === before || (keyword !== "not" && keyword !== "oneOf")) kept[keyword] = value;
      else if (keyword === "oneOf") choices = value;
    }
    // At least one of them has to fit, whatever was left out.
    return choices === undefined ? kept : { ...kept, allOf: [...((kept["allOf"] ?? []) as []), { anyOf: choices }] };
  }

  /** Undefined where it is left out. */
  function valueOf(schema: JsonObject, keyword: string, depth: number): unknown {
    const value = schema[keyword];
    switch (keyword) {
      case "$schema":
        return depth === 0 ? value : undefined;
      case "$ref":
        gaps += 1;
        return typeof value === "string" && followed.test(value) && leadsSomewhere(root, value) ? value : undefined;
      case "properties":
        return namedOf(value, depth);
      case "items":
        return Object.hasOwn(schema, "prefixItems") ? undefined : partOf(value, depth + 1);
      case "additionalProperties":
        if (Object.hasOwn(schema, "patternProperties")) return undefined;
        return value === false ? false : partOf(value, depth + 1);
      case "propertyNames":
        return ifPlain(keyword, partOf(value, depth + 1));
      case "allOf":
      case "anyOf":
      case "oneOf":
        return listOf(value, depth);
      case "not":
        return partOf(value, depth + 1);
      default:
        if (definitionLists.includes(keyword)) return depth === 0 ? namedOf(value, depth) : undefined;
        return keywords.has(keyword) ? ifPlain(keyword, value) : undefined;
    }
  }

  function ifPlain(keyword: string, value: unknown): unknown {
    return isPlain({ [keyword]: value }) ? value : undefined;
  }

  function listOf(value: unknown, depth: number): readonly unknown[] | undefined {
    return Array.isArray(value) && value.length > 0 ? value.map((each) => partOf(each, depth + 1)) : undefined;
  }

  function namedOf(value: unknown, depth: number): JsonObject | undefined {
    if (!isJsonObject(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, partOf(each, depth + 1)]));
  }

  const all = partOf(root, 0);
  return all === true ? {} : all;
}

function leadsSomewhere(root: JsonObject, reference: string): boolean {
  const [, list, name] = reference.split("/");
  if (list === undefined || name === undefined) return true;
  const definitions = root[list];
  return isJsonObject(definitions) && Object.hasOwn(definitions, name);
}
