import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";

/** The schema says something that only the compiler knows. */
export class NotPlain extends Error {
  override readonly name = "NotPlain";
}

export const annotations: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
]);

/** Schemas behind a `$ref` with more keywords than this become functions; smaller ones are inlined. */
export const inlinedKeywords = 8;

/** Where schemas stand that others refer to. They say nothing by themselves. */
export const definitionLists: readonly string[] = ["$defs", "definitions"];

export const keywords: ReadonlySet<string> = new Set([
  "$ref",
  "type",
  "const",
  "enum",
  "not",
  "anyOf",
  "oneOf",
  "allOf",
  "maximum",
  "minimum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "multipleOf",
  "maxLength",
  "minLength",
  "pattern",
  "format",
  "maxItems",
  "minItems",
  "uniqueItems",
  "items",
  "maxProperties",
  "minProperties",
  "required",
  "propertyNames",
  "additionalProperties",
  "properties",
]);

export type Group = "number" | "string" | "array" | "object";

/** The keywords that speak of one type only, in Ajv's order, which decides what is complained of first. */
export const groups: Readonly<Record<Group, readonly string[]>> = {
  number: ["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "format"],
  string: ["maxLength", "minLength", "pattern", "format"],
  array: ["maxItems", "minItems", "items", "uniqueItems"],
  object: ["maxProperties", "minProperties", "required", "propertyNames", "additionalProperties", "properties"],
};

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

/** The types that a schema names; none where it names none. */
export function readTypes(given: unknown): readonly string[] {
  if (given === undefined) return [];
  const types: readonly unknown[] = typeof given === "string" ? [given] : filled(given);
  if (!types.every((type): type is string => typeof type === "string" && Object.hasOwn(isOfType, type)))
    throw new NotPlain();
  return types;
}

/** Whether a schema has keywords of this type. */
export function says(schema: JsonObject, group: Group): boolean {
  return groups[group].some((keyword) => schema[keyword] !== undefined);
}

export type Primitive = string | number | boolean | null;

/** What can be compared by `===`. */
export function primitive(value: unknown): Primitive {
  if (typeof value === "object" && value !== null) throw new NotPlain();
  return value as Primitive;
}

/** A list with something in it. */
export function filled(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new NotPlain();
  return value;
}

/** Schemas by name. */
export function named(value: unknown): JsonObject {
  if (!isJsonObject(value) || Object.hasOwn(value, "__proto__")) throw new NotPlain();
  return value;
}
