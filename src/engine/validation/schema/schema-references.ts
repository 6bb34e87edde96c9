import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { inlinedKeywords, keywords, Malformed } from "./schema-keywords.ts";
import type { Reading, Test } from "./schema-reading.ts";

/**
 * Follows references within one schema, to `#`, to places in it, and to anchors, as Ajv does: a small target is read
 * where it is used; everything else is read once, and may refer to itself. Dynamic references mean the same within one
 * schema.
 */
export function createReferences(root: JsonObject): Reading["follow"] {
  /** Where it matters that a value fits, and elsewhere. */
  const shared = [new Map<unknown, { test?: Test }>(), new Map<unknown, { test?: Test }>()] as const;

  const inlined = new Map<unknown, boolean>();
  let found: ReadonlyMap<string, unknown> | undefined;
  const anchors = (): ReadonlyMap<string, unknown> => (found ??= findAnchors(root));

  /** Counted once, because many references may lead to a large target. */
  function isInlined(schema: unknown): boolean {
    let known = inlined.get(schema);
    if (known === undefined) inlined.set(schema, (known = schema !== root && countKeywords(schema) <= inlinedKeywords));
    return known;
  }

  function share(reading: Reading, schema: unknown): Test {
    const known = shared[reading.isExact ? 1 : 0];
    let entry = known.get(schema);
    if (entry === undefined) {
      entry = {};
      known.set(schema, entry);
      // A function of its own in Ajv's code, which is part of no alternative.
      // The identifier of the whole is not one of a part.
      const depth = schema === root ? -1 : reading.depth;
      entry.test = reading.read({ ...reading, depth, isBranch: false }, schema);
    }
    const one = entry;
    return (value) => one.test?.(value);
  }

  return (reading, reference) => {
    if (reading.isForeign) throw new Malformed();
    const schema = resolve({ root, anchors }, reference);
    const test = isInlined(schema) ? reading.read(reading, schema) : share(reading, schema);
    return (value) => {
      reading.pay(referenceUnits);
      return test(value);
    };
  };
}

const referenceUnits = 8;

/** References that consist of nothing else are followed at once; a circle of them has no meaning. */
const mostSteps = 10;

interface Places {
  readonly root: JsonObject;
  readonly anchors: () => ReadonlyMap<string, unknown>;
}

function resolve(places: Places, reference: unknown): unknown {
  const { root } = places;
  let wanted = reference;
  for (let step = 0; step < mostSteps; step += 1) {
    if (typeof wanted !== "string") throw new Malformed();
    const found = find(places, withoutIdentifier(root, wanted));
    if (!isJsonObject(found) || found["$ref"] === undefined || found === root || saysMore(found)) return found;
    wanted = found["$ref"];
  }
  throw new Malformed();
}

/** A reference to the schema's own identifier is one to the schema. */
function withoutIdentifier({ $id }: JsonObject, reference: string): string {
  return typeof $id === "string" && reference.startsWith(`${$id}#`) ? reference.slice($id.length) : reference;
}

function find({ root, anchors }: Places, reference: string): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) {
    const part = anchors().get(reference);
    if (part === undefined) throw new Malformed();
    return part;
  }
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) {
    const name = decode(step);
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) throw new Malformed();
    found = (found as JsonObject)[name];
    if (isJsonObject(found) && hasIdentifier(found)) throw new Malformed();
  }
  return found;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    throw new Malformed();
  }
}

/** Members of a schema that hold values, and no schemas. */
const values = new Set(["const", "enum", "default", "examples"]);

/** Parts by their anchors, without those of schemas with identifiers of their own. Undefined where two have one. */
function findAnchors(root: JsonObject): ReadonlyMap<string, unknown> {
  const anchors = new Map<string, unknown>();
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const part = stack.pop();
    if (typeof part !== "object" || part === null) continue;
    if (isJsonObject(part) && part !== root && hasIdentifier(part)) continue;
    const { $id, $anchor, $dynamicAnchor } = part as JsonObject;
    const own = [$anchor, $dynamicAnchor].filter((name) => typeof name === "string").map((name) => `#${name}`);
    if (typeof $id === "string" && $id.startsWith("#")) own.push($id);
    for (const anchor of new Set(own)) anchors.set(anchor, anchors.has(anchor) ? undefined : part);
    for (const [name, member] of Object.entries(part)) if (!values.has(name)) stack.push(member);
  }
  return anchors;
}

/** Whether references in it are not those of the schema around it. Up to draft-07, `#name` is an anchor. */
export function hasIdentifier({ $id, id }: JsonObject): boolean {
  return [$id, id].some((each) => typeof each === "string" && !each.startsWith("#"));
}

/** Whether it says something beside its reference. */
function saysMore(schema: JsonObject): boolean {
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
