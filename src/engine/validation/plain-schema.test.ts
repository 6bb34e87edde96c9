import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../kernel/clock.ts";
import type { JsonObject } from "../../kernel/json-bytes.ts";
import { workerUrl } from "../../kernel/worker-file.ts";
import { createCompiler } from "./compiler.ts";
import { createRuntime } from "./runtime.ts";
import { defaultValidationLimits as limits } from "./schema-limits.ts";
import { instantiate, toPlainValidator, type Validator } from "./validator.ts";

const workerFile = workerUrl(import.meta.url, "compile-worker");
const compiler = createCompiler({ clock: systemClock, limits, workerFile });
afterAll(() => compiler[Symbol.asyncDispose]());
const runtime = createRuntime(() => performance.now(), 10_000);

function plain(schema: JsonObject): Validator {
  const validator = toPlainValidator(schema, runtime);
  if (validator === undefined) throw new Error(`not plain: ${JSON.stringify(schema)}`);
  return validator;
}

async function compiled(schema: JsonObject): Promise<Validator> {
  const outcome = await compiler.compile(JSON.stringify(schema));
  if (outcome.kind !== "code") throw new Error(outcome.reason);
  return instantiate(outcome.code, runtime);
}

/** Names that occur in schemas and values alike, some of them awkward. */
const name = fc.constantFrom("a", "b", "toString", "x/y~z", "7", "");
const text = fc.constantFrom("", "a", "ab", "grün", "😀😀", "2026-01-02", "https://a.example/", "open");
const number = fc.constantFrom(-1, 0, 1, 1.5, 2, 3, 10, 2 ** 53 + 2, Number.POSITIVE_INFINITY);
const primitive = fc.oneof(text, number.filter(Number.isFinite), fc.boolean(), fc.constant(null));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  ),
}));

const typeName = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");
const small = fc.integer({ min: 0, max: 3 });
const bound = fc.constantFrom(-1, 0, 1, 1.5, 3);

/** One to four keywords, of whatever type: what does not speak of a value must not disturb either. */
function schemaOf(levels: number): fc.Arbitrary<JsonObject> {
  const inner = levels === 0 ? fc.constant({ type: "integer" }) : schemaOf(levels - 1);
  const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
    const: primitive,
    enum: fc.uniqueArray(primitive, { minLength: 1, maxLength: 3 }),
    anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
    maximum: bound,
    minimum: bound,
    exclusiveMaximum: bound,
    exclusiveMinimum: bound,
    maxLength: small,
    minLength: small,
    format: fc.constantFrom("date", "uri", "password", "email"),
    maxItems: small,
    minItems: small,
    items: fc.oneof(inner, fc.constant(true)),
    required: fc.uniqueArray(
      name.filter((each) => each !== ""),
      { maxLength: 3 },
    ),
    propertyNames: fc.constant({ type: "string" }),
    additionalProperties: fc.oneof(fc.boolean(), inner),
    properties: fc.dictionary(name, inner, { maxKeys: 4 }),
    description: fc.constant("what it is"),
    default: primitive,
    "x-order": small,
  };
  return fc
    .subarray(Object.keys(keywords), { maxLength: 4 })
    .chain((kept) => fc.record(Object.fromEntries(kept.map((key) => [key, keywords[key] as fc.Arbitrary<unknown>]))));
}

test("what is said of a value is what the compiled check says, in the same words", async () => {
  let complaints = 0;
  await fc.assert(
    fc.asyncProperty(schemaOf(2), fc.array(value, { minLength: 5, maxLength: 20 }), async (given, values) => {
      const ours = plain(given);
      const theirs = await compiled(given);
      for (const each of values) {
        const expected = theirs.check(each);
        if (expected !== undefined) complaints += 1;
        expect(ours.check(each)).toEqual(expected);
      }
    }),
    { numRuns: 500 },
  );
  expect(complaints).toBeGreaterThan(1_000);
}, 120_000);

describe("a schema that says more is left to the compiler", () => {
  test.each([
    ["a pattern", { properties: { a: { pattern: "^a" } } }],
    ["a reference", { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: true } }],
    ["a combination", { allOf: [{ type: "string" }] }],
    ["a keyword that nobody knows", { frobnicate: 1 }],
    ["items by place", { items: [{ type: "string" }] }],
    ["a choice of objects", { enum: [{ a: 1 }] }],
    ["an empty choice", { enum: [] }],
    ["no schema at all", { properties: { a: false } }],
    ["a type that there is not", { type: "text" }],
    ["a number as text", { minimum: "3" }],
    ["a format of numbers", { type: "integer", format: "int32" }],
    ["an identifier", { $id: "https://a.example/schema" }],
    ["another dialect", { $schema: "http://json-schema.org/draft-04/schema#" }],
    ["names that are checked", { propertyNames: { maxLength: 3 } }],
  ])("%s", (_what, given) => {
    expect(toPlainValidator(given as JsonObject, runtime)).toBeUndefined();
  });

  test("more parts than it is worth, or nesting without end", () => {
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`p${index}`, { type: "string" }]));
    expect(toPlainValidator({ properties: many }, runtime)).toBeUndefined();
    let deep: JsonObject = { type: "string" };
    for (let level = 0; level < 100; level += 1) deep = { items: deep };
    expect(toPlainValidator(deep, runtime)).toBeUndefined();
    const circle: Record<string, unknown> = { type: "object" };
    circle["additionalProperties"] = circle;
    expect(toPlainValidator(circle, runtime)).toBeUndefined();
  });
});

test.each([
  "https://json-schema.org/draft/2020-12/schema",
  "https://json-schema.org/draft/2019-09/schema",
  "http://json-schema.org/draft-07/schema#",
])("the dialect %s says the same", async (dialect) => {
  const given = { $schema: dialect, type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  for (const each of [{}, { a: 1 }, { a: "1" }, []])
    expect(plain(given).check(each)).toEqual((await compiled(given)).check(each));
});

test("a check that takes too long is given up, and the value counts as unchecked", () => {
  let now = 0;
  const slow = createRuntime(() => (now += 10), 5);
  const check = toPlainValidator({ type: "array", items: { type: "string" } }, slow);
  expect(check?.check([1])).toBeDefined();
  expect(check?.check([...Array.from({ length: 5_000 }, () => "a"), 1])).toBeUndefined();
});
