import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";

/** What a schema allows for one value, as far as it says so simply. */
export interface ValueTypes {
  /** Empty where it says nothing. */
  readonly kinds: ReadonlySet<string>;
  /** The values that it lists. */
  readonly choices: readonly unknown[];
  /** What it allows for the items of a list. */
  readonly items: () => ValueTypes;
}

/** References and alternatives that are followed: schemas may be circular. */
const deepest = 20;

/** The allowed types, alternatives and references within the document included. */
export function typesOf(root: JsonObject, schema: JsonObject): ValueTypes {
  const all = alternatives(root, schema, 0);
  const listed = all.flatMap((one) => [...listOf(one["enum"]), ...(Object.hasOwn(one, "const") ? [one["const"]] : [])]);
  return {
    kinds: new Set(all.flatMap(kindsOf)),
    choices: listed.filter((value) => typeof value !== "object" || value === null),
    items() {
      const items = all.map((one) => one["items"]).find(isJsonObject);
      return typesOf(root, items ?? {});
    },
  };
}

/** The schema of a property; undefined where it has none of its own. */
export function propertySchema(root: JsonObject, schema: JsonObject, name: string): JsonObject | undefined {
  for (const { properties } of alternatives(root, schema, 0)) {
    if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) continue;
    const found = properties[name];
    return isJsonObject(found) ? found : {};
  }
  return undefined;
}

function alternatives(root: JsonObject, schema: JsonObject, depth: number): readonly JsonObject[] {
  if (depth > deepest) return [];
  const target = typeof schema["$ref"] === "string" ? lookUp(root, schema["$ref"]) : undefined;
  const others = ["anyOf", "oneOf", "allOf"].flatMap((key) => listOf(schema[key]).filter(isJsonObject));
  return [
    schema,
    ...(target === undefined ? [] : alternatives(root, target, depth + 1)),
    ...others.flatMap((one) => alternatives(root, one, depth + 1)),
  ];
}

/** A JSON pointer into the same document (RFC 6901). */
function lookUp(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const key of reference.slice(1).split("/").slice(1)) {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
}

function kindsOf({ type }: JsonObject): readonly string[] {
  return typeof type === "string" ? [type] : listOf(type).filter((one) => typeof one === "string");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
