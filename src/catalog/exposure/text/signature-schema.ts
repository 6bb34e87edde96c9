import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";

/** What a JSON Schema allows, reduced to what a signature can say. */
export type Shape =
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "literals"; readonly values: readonly unknown[] }
  | { readonly kind: "array"; readonly item: Shape }
  | { readonly kind: "tuple"; readonly items: readonly Shape[]; readonly rest: Shape | undefined }
  | ObjectShape
  | { readonly kind: "union"; readonly members: readonly Shape[] }
  | { readonly kind: "both"; readonly members: readonly Shape[] }
  /** The schema holds more than was read: a cycle, an external reference, or more than the work budget allows. */
  | { readonly kind: "unread"; readonly text: "object" | "unknown" };

export interface ObjectShape {
  readonly kind: "object";
  readonly fields: readonly Field[];
  /** The shape of the values under any other key, when the schema gives one. */
  readonly rest: Shape | undefined;
  /** Sets of fields of which one set is required, though each field by itself is optional. */
  readonly needs: readonly (readonly string[])[];
  /** Whether there are rules between fields, or fields beyond the budget, that no signature shows. */
  readonly partial: boolean;
}

export interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly shape: Shape;
}

const nodeBudget = 2000;
/** Deeper than any signature prints. Keeps the recursion shallow on schemas that nest 10,000 levels. */
const depthLimit = 10;
const fieldLimit = 300;
const memberLimit = 40;

interface Reading {
  readonly root: JsonObject;
  nodesLeft: number;
}

/** Reads a tool's inputSchema. Visits at most 2,000 nodes, follows local references only, and ends at cycles. */
export function readSchema(root: JsonObject): Shape {
  return read(root, { root, nodesLeft: nodeBudget }, []);
}

const unknown: Shape = { kind: "word", text: "unknown" };

/**
 * `trail` holds the schemas that are being read, outermost first. Its length is the depth, and meeting one of them
 * again means a cycle.
 */
function read(schema: unknown, reading: Reading, trail: readonly unknown[]): Shape {
  if (schema === false) return { kind: "word", text: "never" };
  if (!isJsonObject(schema)) return unknown;
  reading.nodesLeft -= 1;
  if (reading.nodesLeft < 0 || trail.length >= depthLimit || trail.includes(schema)) {
    return {
      kind: "unread",
      text: looksLikeObject(schema) || own(schema, "$ref") !== undefined ? "object" : "unknown",
    };
  }
  const inside = [...trail, schema];
  const reference = own(schema, "$ref");
  if (typeof reference === "string") {
    const target = resolveLocal(reference, reading.root);
    return target === undefined ? { kind: "unread", text: "unknown" } : read(target, reading, inside);
  }
  if (Array.isArray(own(schema, "allOf"))) return read(mergeAllOf(schema, reading), reading, inside);
  const shape = readPlain(schema, reading, inside);
  return own(schema, "nullable") === true ? { kind: "union", members: [shape, { kind: "word", text: "null" }] } : shape;
}

function readPlain(schema: JsonObject, reading: Reading, trail: readonly unknown[]): Shape {
  if (Object.hasOwn(schema, "const")) return { kind: "literals", values: [schema["const"]] };
  const values = own(schema, "enum");
  if (Array.isArray(values) && values.length > 0) return { kind: "literals", values };
  const variants = own(schema, "anyOf") ?? own(schema, "oneOf");
  if (Array.isArray(variants) && variants.length > 0) return readVariants(schema, variants, reading, trail);
  const type = own(schema, "type");
  if (Array.isArray(type)) {
    const types = type.slice(0, 8).filter((one) => typeof one === "string");
    return { kind: "union", members: types.map((one) => readType(schema, one, reading, trail)) };
  }
  return readType(schema, typeof type === "string" ? type : inferType(schema), reading, trail);
}

function readVariants(
  schema: JsonObject,
  variants: readonly unknown[],
  reading: Reading,
  trail: readonly unknown[],
): Shape {
  const base =
    looksLikeObject(schema) && isJsonObject(own(schema, "properties")) ? readObject(schema, reading, trail) : undefined;
  const needs = base === undefined ? undefined : needsOf(variants);
  if (base !== undefined && needs !== undefined) return { ...base, needs };
  const members: Shape[] = variants.slice(0, memberLimit).map((variant) => read(variant, reading, trail));
  if (variants.length > memberLimit) members.push({ kind: "unread", text: "unknown" });
  const union: Shape = { kind: "union", members };
  return base === undefined ? union : { kind: "both", members: [base, union] };
}

/**
 * `anyOf: [{ required: [a] }, { required: [b] }]`: which fields are needed together. Undefined when the variants say
 * more than that.
 */
function needsOf(variants: readonly unknown[]): readonly (readonly string[])[] | undefined {
  const sets: (readonly string[])[] = [];
  for (const variant of variants.slice(0, memberLimit)) {
    if (!isJsonObject(variant) || isJsonObject(own(variant, "properties"))) return undefined;
    const required = own(variant, "required");
    if (!Array.isArray(required)) return undefined;
    sets.push(required.filter((name) => typeof name === "string").slice(0, 10));
  }
  return sets;
}

function readType(schema: JsonObject, type: string, reading: Reading, trail: readonly unknown[]): Shape {
  switch (type) {
    case "object":
      return readObject(schema, reading, trail);
    case "array":
      return readArray(schema, reading, trail);
    case "string":
      return { kind: "word", text: formatted(own(schema, "format")) };
    case "integer":
    case "number":
    case "boolean":
    case "null":
      return { kind: "word", text: type };
    default:
      return unknown;
  }
}

const tellingFormats = [
  "date-time",
  "date",
  "time",
  "duration",
  "uuid",
  "email",
  "uri",
  "ipv4",
  "ipv6",
  "byte",
  "binary",
];

function formatted(format: unknown): string {
  return typeof format === "string" && tellingFormats.includes(format) ? `string<${format}>` : "string";
}

function readArray(schema: JsonObject, reading: Reading, trail: readonly unknown[]): Shape {
  const items = own(schema, "items");
  const prefix = own(schema, "prefixItems") ?? (Array.isArray(items) ? items : undefined);
  if (!Array.isArray(prefix))
    return { kind: "array", item: items === undefined ? unknown : read(items, reading, trail) };
  const after = own(schema, "prefixItems") === undefined ? own(schema, "additionalItems") : items;
  return {
    kind: "tuple",
    items: prefix.slice(0, memberLimit).map((item: unknown) => read(item, reading, trail)),
    rest: isJsonObject(after) || prefix.length > memberLimit ? read(after, reading, trail) : undefined,
  };
}

function readObject(schema: JsonObject, reading: Reading, trail: readonly unknown[]): ObjectShape {
  const properties = own(schema, "properties");
  const named = isJsonObject(properties) ? properties : {};
  const required = requiredOf(schema);
  const names = [...required, ...Object.keys(named).filter((name) => !required.has(name))];
  const fields = names.slice(0, fieldLimit).map((name) => ({
    name,
    required: required.has(name),
    shape: Object.hasOwn(named, name) ? read(named[name], reading, trail) : unknown,
  }));
  const rules = ["if", "not", "dependentRequired", "dependentSchemas", "dependencies"];
  return {
    kind: "object",
    fields,
    rest: restOf(schema, reading, trail),
    needs: [],
    partial: names.length > fieldLimit || rules.some((rule) => own(schema, rule) !== undefined),
  };
}

function requiredOf(schema: JsonObject): Set<string> {
  const required = own(schema, "required");
  if (!Array.isArray(required)) return new Set();
  return new Set(required.slice(0, fieldLimit + 1).filter((name) => typeof name === "string"));
}

function restOf(schema: JsonObject, reading: Reading, trail: readonly unknown[]): Shape | undefined {
  const more = own(schema, "additionalProperties");
  if (isJsonObject(more)) return read(more, reading, trail);
  const patterns = own(schema, "patternProperties");
  const first = isJsonObject(patterns) ? Object.values(patterns)[0] : undefined;
  return isJsonObject(first) ? read(first, reading, trail) : undefined;
}

/**
 * One schema that says what the parts say together. Properties and required names are gathered; of other keywords the
 * first wins.
 */
function mergeAllOf(schema: JsonObject, reading: Reading): JsonObject {
  const { allOf, ...rest } = schema;
  const merged: Record<string, unknown> = { ...rest };
  const properties: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const required: unknown[] = [];
  for (const part of [rest, ...partsOf(allOf, reading)]) {
    for (const key of Object.keys(part)) {
      if (key !== "__proto__" && !Object.hasOwn(merged, key)) merged[key] = part[key];
    }
    const named = own(part, "properties");
    if (isJsonObject(named))
      for (const name of Object.keys(named).slice(0, fieldLimit)) properties[name] ??= named[name];
    const needed = own(part, "required");
    if (Array.isArray(needed)) required.push(...needed.slice(0, fieldLimit));
  }
  if (Object.keys(properties).length > 0) merged["properties"] = properties;
  if (required.length > 0) merged["required"] = required;
  return merged;
}

function partsOf(allOf: unknown, reading: Reading): JsonObject[] {
  const parts: JsonObject[] = [];
  for (const part of Array.isArray(allOf) ? allOf.slice(0, memberLimit) : []) {
    const reference = isJsonObject(part) ? own(part, "$ref") : undefined;
    const target: unknown = typeof reference === "string" ? resolveLocal(reference, reading.root) : part;
    reading.nodesLeft -= 1;
    if (isJsonObject(target)) parts.push(target);
  }
  return parts;
}

/** Resolves a JSON pointer within this schema (`#/$defs/x`). Nothing else is followed. */
function resolveLocal(reference: string, root: JsonObject): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/") || reference.length > 500) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decodeStep(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}

function decodeStep(step: string): string {
  const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function inferType(schema: JsonObject): string {
  if (looksLikeObject(schema)) return "object";
  if (own(schema, "items") !== undefined || own(schema, "prefixItems") !== undefined) return "array";
  if (["pattern", "minLength", "maxLength", "format"].some((key) => own(schema, key) !== undefined)) return "string";
  if (["minimum", "maximum", "multipleOf"].some((key) => own(schema, key) !== undefined)) return "number";
  return "unknown";
}

function looksLikeObject(schema: JsonObject): boolean {
  return (
    own(schema, "type") === "object" ||
    isJsonObject(own(schema, "properties")) ||
    isJsonObject(own(schema, "additionalProperties"))
  );
}

/** A keyword of the schema itself, never a member of Object.prototype. */
function own(schema: JsonObject, key: string): unknown {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}
