import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { ExactNumber } from "./exact-json.ts";

/** Schemas of any size are walked; deeper ones could overflow the stack of a compiler, which nests as they do. */
const deepest = 100;

/**
 * Why validators that clients compile schemas with would throw; undefined where they would not. Stricter where they
 * differ: anchors, several `$id`, references to other documents, and dialects that few know count as faults. Checks
 * structure alone, and compiles nothing but regular expressions.
 */
export function schemaFault(root: JsonObject): string | undefined {
  const dialect = root["$schema"];
  if (typeof dialect === "string" && !dialects.test(dialect)) return "its $schema is unknown";
  const base = root["$id"];
  if (base !== undefined && (typeof base !== "string" || !plainId.test(base))) return "its $id cannot be resolved";
  const walk: Walk = { root, base, takesLists: typeof dialect === "string" && !newest.test(dialect), left: [] };
  const seen = new Set<unknown>();
  walk.left.push({ schema: root, depth: 0 });
  for (let next = walk.left.pop(); next !== undefined; next = walk.left.pop()) {
    const { schema, depth } = next;
    if (seen.has(schema) || typeof schema === "boolean") continue;
    seen.add(schema);
    if (depth > deepest) return "it nests too deeply";
    if (!isJsonObject(schema) || schema instanceof ExactNumber) return "a part of it is no schema";
    const fault = keywordFault(schema, depth, walk);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const dialects = /^https?:\/\/json-schema\.org\/(draft-0[67]|draft\/2019-09|draft\/2020-12)\/schema#?$/;
const newest = /2020-12/;
const plainId = /^[\w./:-]+$/;
const types: readonly unknown[] = ["array", "boolean", "integer", "null", "number", "object", "string"];

interface Walk {
  readonly root: JsonObject;
  readonly base: unknown;
  /** Whether `items` may be a list of schemas, as in dialects before 2020-12. */
  readonly takesLists: boolean;
  readonly left: { readonly schema: unknown; readonly depth: number }[];
}

type Check = (value: unknown, schema: JsonObject) => boolean;

const isNumber: Check = (value) => typeof value === "number" || value instanceof ExactNumber;
const isCount: Check = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isList: Check = (value) => Array.isArray(value) && value.length > 0;
const isTexts: Check = (value) => Array.isArray(value) && value.every((item) => typeof item === "string");
const isMap: Check = (value) => isJsonObject(value) && !(value instanceof ExactNumber);
const isPattern: Check = (value) => typeof value === "string" && isRegExp(value);
const never: Check = () => false;

/** What the values of keywords have to be. Keywords that are not here are notes to compilers. */
const checks: Readonly<Record<string, Check>> = {
  type: (value) =>
    types.includes(value) || (Array.isArray(value) && value.length > 0 && value.every((one) => types.includes(one))),
  nullable: (value, { type }) => value === true && type !== undefined,
  ...toChecks(isNumber, "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"),
  multipleOf: (value) => typeof value === "number" && value > 0,
  ...toChecks(isCount, "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"),
  ...toChecks(isCount, "maxContains", "minContains"),
  ...toChecks(isText, "format", "$ref", "contentEncoding", "contentMediaType"),
  uniqueItems: isFlag,
  pattern: isPattern,
  enum: isList,
  required: isTexts,
  ...toChecks(isList, "allOf", "anyOf", "oneOf", "prefixItems"),
  ...toChecks(isMap, "properties", "dependentSchemas", "dependencies", "$defs", "definitions"),
  patternProperties: (value) => isMap(value, {}) && Object.keys(value as object).every(isRegExp),
  dependentRequired: (value) => isMap(value, {}) && Object.values(value as object).every((one) => isTexts(one, {})),
  // Compilers treat these in ways of their own, or refuse them.
  ...toChecks(never, "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef", "$async"),
  ...toChecks(never, "discriminator", "formatMaximum", "formatMinimum", "formatExclusiveMaximum"),
  ...toChecks(never, "formatExclusiveMinimum"),
};

function toChecks(check: Check, ...names: readonly string[]): Readonly<Record<string, Check>> {
  return Object.fromEntries(names.map((name) => [name, check]));
}

/** Keywords whose value is a schema, a list of them, or an object of them. */
const inOne = ["additionalProperties", "additionalItems", "contains", "not", "if", "then", "else", "propertyNames"];
const inOneToo = ["items", "unevaluatedItems", "unevaluatedProperties", "contentSchema"];
const inList = ["allOf", "anyOf", "oneOf", "prefixItems"];
const inMap = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

function keywordFault(schema: JsonObject, depth: number, walk: Walk): string | undefined {
  if (depth > 0 && schema["$id"] !== undefined) return "it has more than one $id";
  for (const [keyword, value] of Object.entries(schema)) {
    if (Object.hasOwn(checks, keyword) && checks[keyword]?.(value, schema) === false)
      return `${keyword} cannot be compiled`;
  }
  const into = (value: unknown): void => void walk.left.push({ schema: value, depth: depth + 1 });
  for (const keyword of [...inOne, ...inOneToo]) {
    const value = schema[keyword];
    if (value === undefined) continue;
    if (!Array.isArray(value)) into(value);
    else if (keyword !== "items" || !walk.takesLists) return `${keyword} cannot be compiled`;
    else value.forEach(into);
  }
  for (const keyword of inList) if (Array.isArray(schema[keyword])) (schema[keyword] as unknown[]).forEach(into);
  for (const keyword of inMap) if (isJsonObject(schema[keyword])) Object.values(schema[keyword]).forEach(into);
  const { dependencies } = schema;
  if (isJsonObject(dependencies)) for (const value of Object.values(dependencies)) if (!isTexts(value, {})) into(value);
  return schema["$ref"] === undefined ? undefined : referenceFault(schema["$ref"] as string, into, walk);
}

/** Follows references from one to the next, because those that go in a circle can never be resolved. */
function referenceFault(first: string, into: (schema: unknown) => void, { root, base }: Walk): string | undefined {
  const passed = new Set<string>();
  for (let reference = first; ;) {
    if (passed.has(reference)) return "a $ref leads to itself";
    passed.add(reference);
    const pointer =
      typeof base === "string" && reference.startsWith(`${base}#`) ? reference.slice(base.length) : reference;
    const target = pointer === "#" ? root : resolvePointer(root, pointer);
    if (target === undefined) return "a $ref leads nowhere";
    into(target);
    const next = isJsonObject(target) ? target["$ref"] : undefined;
    if (typeof next !== "string") return undefined;
    reference = next;
  }
}

function resolvePointer(root: JsonObject, pointer: string): unknown {
  if (!pointer.startsWith("#/")) return undefined;
  let target: unknown = root;
  for (const part of pointer.slice(2).split("/")) {
    const key = decoded(part);
    const isThere = typeof target === "object" && target !== null && key !== undefined && Object.hasOwn(target, key);
    if (!isThere) return undefined;
    target = (target as JsonObject)[key];
  }
  return target;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}

function isRegExp(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
