import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { inlinedKeywords, keywords, NotPlain } from "./plain-keywords.ts";
import type { PlainTest, Reading } from "./plain-reading.ts";

/** Reads a part of a schema; the same function for all of them. */
type Read = (reading: Reading, schema: unknown, depth: number) => PlainTest;

/**
 * Follows references within one schema, to `#` and to places with simple names, as Ajv does: what is small is read
 * where it is used; everything else is read once, and may refer to itself.
 */
export function createReferences(root: JsonObject, read: Read): Reading["follow"] {
  const shared = new Map<unknown, { test?: PlainTest }>();

  function share(reading: Reading, schema: unknown, depth: number): PlainTest {
    let entry = shared.get(schema);
    if (entry === undefined) {
      entry = {};
      shared.set(schema, entry);
      // A function of its own in compiled code, which is part of no alternative.
      entry.test = read({ ...reading, isBranch: false }, schema, depth);
    }
    const known = entry;
    return (value) => known.test?.(value);
  }

  return (reading, reference, depth) => {
    const schema = resolve(root, reference);
    const isInlined = schema !== root && countKeywords(schema) <= inlinedKeywords;
    const test = isInlined ? read(reading, schema, depth + 1) : share(reading, schema, depth + 1);
    return (value) => {
      reading.pay(referenceUnits);
      return test(value);
    };
  };
}

const referenceUnits = 8;

/** Nothing in it has to be decoded. */
const simpleReference = /^#(?:\/[\w.$-]+)*$/;
/** References that consist of nothing else are followed at once; a circle of them has no meaning. */
const mostSteps = 10;

function resolve(root: JsonObject, reference: unknown): unknown {
  let wanted = reference;
  for (let step = 0; step < mostSteps; step += 1) {
    if (typeof wanted !== "string" || !simpleReference.test(wanted)) throw new NotPlain();
    let found: unknown = root;
    for (const name of wanted.split("/").slice(1)) {
      if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) throw new NotPlain();
      found = (found as JsonObject)[name];
      if (isJsonObject(found) && found["$id"] !== undefined) throw new NotPlain();
    }
    if (found === root && wanted !== "#") throw new NotPlain();
    if (!isJsonObject(found) || found["$ref"] === undefined || found === root || saysMore(found)) return found;
    wanted = found["$ref"];
  }
  throw new NotPlain();
}

/** Whether it says something beside its reference. */
export function saysMore(schema: JsonObject): boolean {
  return Object.keys(schema).some((keyword) => keyword !== "$ref" && keywords.has(keyword));
}

/** Keywords whose values Ajv does not count along with them. */
const counted = new Set(
  [
    "type",
    "format",
    "pattern",
    "maxLength",
    "minLength",
    "maxProperties",
    "minProperties",
    "maxItems",
    "minItems",
  ].concat(["maximum", "minimum", "uniqueItems", "multipleOf", "required", "enum", "const"]),
);

/**
 * As Ajv counts them to decide whether to inline a schema: with names of members, the letters of listed texts, and
 * never if it refers to others.
 */
function countKeywords(schema: unknown): number {
  if (typeof schema === "string") return schema.length;
  if (typeof schema !== "object" || schema === null) return 0;
  let count = 0;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$ref") return Number.POSITIVE_INFINITY;
    count += 1;
    if (counted.has(key) || typeof value !== "object" || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value]) count += countKeywords(item);
  }
  return count;
}
