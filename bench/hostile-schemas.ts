import type { JsonObject } from "../src/kernel/text/json-bytes.ts";

/**
 * A schema made to hurt whoever compiles it or checks against it (fault 61), and a value that makes the check work
 * hardest.
 */
export interface HostileSchema {
  readonly name: string;
  readonly schema: JsonObject;
  readonly value: unknown;
}

export function hostileSchemas(): HostileSchema[] {
  return [
    { name: "$ref to itself", schema: { $ref: "#" }, value: {} },
    {
      name: "$ref cycle",
      schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      value: {},
    },
    { name: "recursive tree", schema: recursiveTree(), value: nestedValue(60) },
    { name: "$ref over http", schema: { $ref: "http://127.0.0.1:9/schema.json" }, value: {} },
    {
      name: "$ref to a file",
      schema: { properties: { a: { $ref: "file:///etc/passwd" } } },
      value: { a: 1 },
    },
    { name: "20,000 anyOf", schema: { anyOf: listOf(20_000, (n) => ({ const: n })) }, value: -1 },
    {
      name: "3,000 anyOf",
      schema: { anyOf: listOf(3_000, (n) => ({ type: "object", required: [n] }), String) },
      value: {},
    },
    {
      name: "20,000 properties",
      schema: { properties: record(20_000, () => ({ type: "string" })) },
      value: { p1: 1 },
    },
    {
      name: "10,000 properties",
      schema: { properties: record(10_000, () => ({ type: "string" })) },
      value: { p9999: 1 },
    },
    {
      name: "1,000 properties",
      schema: { properties: record(1_000, () => ({ type: "string" })) },
      value: { p999: 1 },
    },
    { name: "10,000 levels", schema: levels(10_000), value: {} },
    { name: "30 levels", schema: levels(30), value: nestedValue(30) },
    {
      name: "pattern that backtracks",
      schema: { pattern: "^(a+)+$" },
      value: `${"a".repeat(100_000)}!`,
    },
    {
      name: "huge program",
      schema: { pattern: "^((a{1,30}){1,30})+$" },
      value: `${"a".repeat(1_000_000)}!`,
    },
    { name: "lookahead", schema: { pattern: "^(?=(a+)+$)" }, value: `${"a".repeat(50)}!` },
    {
      name: "500 patterns",
      schema: { allOf: listOf(500, (n) => ({ pattern: `(\\pL|${n}){1,300}` })) },
      value: "é".repeat(1_000),
    },
    {
      name: "patternProperties that backtracks",
      schema: { patternProperties: { "^(a+)+$": { type: "string" } } },
      value: { [`${"a".repeat(10_000)}!`]: 1 },
    },
    {
      name: "dialect unknown",
      schema: { $schema: "https://example.com/dialect", type: "object" },
      value: 1,
    },
    { name: "2^40 steps", schema: doubling(40), value: {} },
    { name: "recursion over every member", schema: widening(8), value: nestedValue(60) },
    {
      name: "uniqueItems of 200,000",
      schema: { uniqueItems: true },
      value: Array.from({ length: 200_000 }, (_, index) => ({ index })),
    },
    {
      name: "500 minProperties",
      schema: { allOf: listOf(500, () => ({ minProperties: 2 })) },
      value: record(50_000, () => 1),
    },
    {
      name: "500 maxLength",
      schema: { allOf: listOf(500, () => ({ maxLength: 9_000_000 })) },
      value: "x".repeat(4_000_000),
    },
    { name: "inlined over and over", schema: inlining(), value: {} },
    {
      name: "$id that ends a comment",
      schema: { $id: "*/;globalThis.hijacked=true;/*", type: "object" },
      value: 1,
    },
    {
      name: "200 unevaluatedProperties",
      schema: { allOf: listOf(200, () => ({ unevaluatedProperties: { type: "number" } })) },
      value: record(20_000, () => 1),
    },
  ];
}

function recursiveTree(): JsonObject {
  return {
    type: "object",
    properties: { next: { $ref: "#" }, name: { type: "string" } },
    additionalProperties: false,
  };
}

/** Valid forty levels deep, and each level asks twice for the next. */
function doubling(depth: number): JsonObject {
  const ref = (level: number) => ({ $ref: `#/$defs/level${level}` });
  const both = (level: number) => ({ allOf: [ref(level + 1), ref(level + 1)] });
  const defs = Object.fromEntries(Array.from({ length: depth }, (_, level) => [`level${level}`, both(level)]));
  return { ...ref(0), $defs: { ...defs, [`level${depth}`]: { type: "object", minProperties: 0 } } };
}

/** Each member of a value is checked by many branches, all of which fail at the very bottom. */
function widening(branches: number): JsonObject {
  return {
    type: "object",
    anyOf: listOf(branches, (n) => ({
      properties: { next: { $ref: "#" }, end: { const: n } },
      required: [`r${n}`],
    })),
  };
}

function inlining(): JsonObject {
  const body = { properties: record(7, () => ({ type: "string", description: "x".repeat(50) })) };
  return {
    $defs: { body },
    properties: record(5_000, () => ({ $ref: "#/$defs/body", minProperties: 1 })),
  };
}

function levels(depth: number): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < depth; level++) schema = { properties: { next: schema } };
  return schema;
}

function nestedValue(depth: number): JsonObject {
  let value: JsonObject = { end: true };
  for (let level = 0; level < depth; level++) value = { next: value };
  return value;
}

function listOf<Item, Key = number>(
  length: number,
  make: (key: Key) => Item,
  toKey: (index: number) => Key = (index) => index as Key,
): Item[] {
  return Array.from({ length }, (_, index) => make(toKey(index)));
}

function record<Member>(length: number, make: () => Member): Record<string, Member> {
  return Object.fromEntries(Array.from({ length }, (_, index) => [`p${index}`, make()]));
}
