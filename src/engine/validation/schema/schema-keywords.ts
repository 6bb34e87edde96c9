import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { ExactNumber, stringifyExact } from "../../../wire/json/exact-json.ts";

/** A keyword does not have the form that it must have. It is then not checked. */
export class Malformed extends Error {
  override readonly name = "Malformed";
}

/** What a dialect of JSON Schema reads differently from the others. */
export interface Dialect {
  /** Keywords that mean nothing in it. */
  readonly unknown: ReadonlySet<string>;
  /** Up to draft-07, keywords beside `$ref` are ignored (draft-07 core, 8.3). */
  readonly areReferencesAlone: boolean;
  /** Whether `items` may be a list, with `additionalItems` beside it. */
  readonly hasItemLists: boolean;
}

const draft2020: Dialect = { unknown: new Set(["additionalItems"]), areReferencesAlone: false, hasItemLists: false };
const draft2019: Dialect = { unknown: new Set(["prefixItems"]), areReferencesAlone: false, hasItemLists: true };
const draft07: Dialect = {
  unknown: new Set([
    ...["$dynamicRef", "$recursiveRef", "prefixItems", "minContains", "maxContains", "unevaluatedItems"],
    ...["dependentRequired", "dependentSchemas", "unevaluatedProperties"],
  ]),
  areReferencesAlone: true,
  hasItemLists: true,
};

/**
 * Undefined when `$schema` names an unknown dialect. Without `$schema` it is 2020-12 (MCP 2025-11-25, basic, JSON
 * Schema Usage), but lists of items are read as older servers mean them. Draft-06 and draft-04 are read as draft-07.
 */
export function dialectOf({ $schema: name }: JsonObject): Dialect | undefined {
  if (name === undefined) return { ...draft2020, unknown: new Set(), hasItemLists: true };
  const key = typeof name === "string" ? /^https?:\/\/json-schema\.org\/([\w/-]+)\/schema#?$/.exec(name)?.[1] : "";
  if (key === "draft/2020-12") return draft2020;
  if (key === "draft/2019-09") return draft2019;
  return key === "draft-07" || key === "draft-06" || key === "draft-04" ? draft07 : undefined;
}

/** Schemas behind a `$ref` with more keywords than this become functions; smaller ones are inlined. */
export const inlinedKeywords = 8;

export type Group = "number" | "string" | "array" | "object";

/** The keywords of values of any type, in Ajv's order. */
export const choices: readonly string[] = [
  "$dynamicRef",
  "$recursiveRef",
  "$ref",
  "const",
  "enum",
  "not",
  "anyOf",
  "oneOf",
  "allOf",
  "if",
];

/** The keywords of one type, in Ajv's order, which decides which fault is reported first. */
export const groups: Readonly<Record<Group, readonly string[]>> = {
  number: ["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "format"],
  string: ["maxLength", "minLength", "pattern", "format"],
  array: [
    "maxItems",
    "minItems",
    "prefixItems",
    "additionalItems",
    "items",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "unevaluatedItems",
  ],
  object: [
    "maxProperties",
    "minProperties",
    "required",
    "propertyNames",
    "additionalProperties",
    "dependencies",
    "properties",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
  ],
};

/** Keywords that say something of a value. */
export const keywords: ReadonlySet<string> = new Set(["type", ...choices, ...Object.values(groups).flat()]);

export const isOfType: Readonly<Record<string, (value: unknown) => boolean>> = {
  number: (value) => typeof value === "number",
  // 1e400 is Infinity here, and an integer there.
  integer: (value) => typeof value === "number" && (Number.isInteger(value) || Math.abs(value) === Infinity),
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

export const comparisons: Readonly<Record<string, readonly [string, (value: number, limit: number) => boolean]>> = {
  maximum: ["<=", (value, limit) => value <= limit],
  minimum: [">=", (value, limit) => value >= limit],
  exclusiveMaximum: ["<", (value, limit) => value < limit],
  exclusiveMinimum: [">", (value, limit) => value > limit],
};

/** The types that a schema names; none where it names none. Throws Malformed. */
export function readTypes({ type: given, nullable }: JsonObject): readonly string[] {
  if (given === undefined) return [];
  const types: readonly unknown[] = typeof given === "string" ? [given] : filled(given);
  if (!types.every((type): type is string => typeof type === "string" && Object.hasOwn(isOfType, type)))
    throw new Malformed();
  // OpenAPI's keyword.
  return nullable === true && !types.includes("null") ? [...types, "null"] : types;
}

/** Throws Malformed where other schemas of the same value may have looked at some of its parts: which is not known. */
export function mustLookAlone(schema: JsonObject): void {
  if ([...choices, "dependencies", "dependentSchemas"].some((keyword) => schema[keyword] !== undefined))
    throw new Malformed();
}

/** The keywords that a schema has, in the order of the schema. */
export function keywordsOf(schema: JsonObject, { unknown }: Dialect): readonly string[] {
  return Object.keys(schema).filter((key) => keywords.has(key) && schema[key] !== undefined && !unknown.has(key));
}

/** Those that are among others, in the order of the others. */
export function inOrderOf(among: readonly string[], own: readonly string[]): readonly string[] {
  const found = own.filter((keyword) => among.includes(keyword));
  return found.length < 2 ? found : found.sort((one, other) => among.indexOf(one) - among.indexOf(other));
}

/** A value of a schema, with numbers as JavaScript has them. */
export function plainly(value: unknown): unknown {
  return typeof value === "object" && value !== null ? JSON.parse(stringifyExact(value)) : value;
}

export function numeric(given: unknown): number {
  const value = given instanceof ExactNumber ? Number(given.source) : given;
  if (typeof value !== "number") throw new Malformed();
  return value;
}

/** A list with something in it. */
export function filled(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new Malformed();
  return value;
}

export function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value) || !value.every((each): each is string => typeof each === "string")) throw new Malformed();
  return value;
}

/** Members by name. `__proto__` is none in compiled code either. */
export function named(value: unknown): readonly (readonly [string, unknown])[] {
  if (!isJsonObject(value)) throw new Malformed();
  return Object.entries(value);
}
