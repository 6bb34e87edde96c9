import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { workerUrl } from "../../../kernel/runtime/worker-file.ts";
import { createCompiler } from "../compile/compiler.ts";
import { createRuntime } from "../runtime.ts";
import { defaultValidationLimits as limits } from "../schema-limits.ts";
import { instantiate, toPartialValidator, toPlainValidator, type Validator } from "../validator.ts";

const compiler = createCompiler({
  clock: systemClock,
  limits,
  workerFile: workerUrl(import.meta.url, "compile-worker"),
});
afterAll(() => compiler[Symbol.asyncDispose]());
const runtime = createRuntime(() => performance.now(), 10_000);
const dialect = { $schema: "https://json-schema.org/draft/2020-12/schema" };

function partial(schema: JsonObject): Validator {
  const validator = toPartialValidator(schema, runtime);
  if (validator === undefined) throw new Error(`cannot be read without the compiler: ${JSON.stringify(schema)}`);
  return validator;
}

const name = fc.constantFrom("a", "b", "ab", "toString");
const primitive = fc.constantFrom<unknown>("a", "ab", "", 0, 1, 2.5, true, null);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    primitive,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
}));
const small = fc.integer({ min: 0, max: 2 });
const typeName = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");

/** Not beside combinations: what Ajv makes of both together throws, and everything would count as fit. */
const byPattern = fc.record(
  {
    patternProperties: fc.dictionary(
      fc.constantFrom("^a", "b$"),
      fc.constantFrom({ type: "integer" }, { const: "a" }),
      {
        minKeys: 1,
        maxKeys: 2,
      },
    ),
    properties: fc.dictionary(name, fc.constant({ type: "string" }), { maxKeys: 2 }),
    additionalProperties: fc.boolean(),
  },
  { requiredKeys: ["patternProperties"] },
);

/** Keywords that are known without the compiler, and ones that only it knows. */
function schemaOf(levels: number): fc.Arbitrary<JsonObject> {
  const inner =
    levels === 0 ? fc.oneof(fc.constantFrom({ type: "integer" }, { const: "a" }), byPattern) : schemaOf(levels - 1);
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 2, maxLength: 3 })),
    enum: fc.uniqueArray(fc.oneof(primitive, fc.constant({ a: 1 })), { minLength: 1, maxLength: 3 }),
    $ref: fc.constantFrom("#/$defs/one", "#/$defs/other", "#/$defs/more/a", "#named"),
    minLength: small,
    maxItems: small,
    minimum: small,
    required: fc.uniqueArray(name, { maxLength: 2 }),
    // Only of a member: a schema that asks of the same value whether it fits has no meaning.
    properties: fc.dictionary(name, fc.oneof(inner, fc.constant({ $ref: "#" })), { maxKeys: 3 }),
    additionalProperties: fc.oneof(fc.boolean(), inner),
    propertyNames: fc.constantFrom<JsonObject>({ maxLength: 1 }, { contains: true, minLength: 2 }),
    items: inner,
    not: inner,
    anyOf: list,
    oneOf: list,
    allOf: list,
    contains: inner,
    prefixItems: list,
    if: inner,
    // oxlint-disable-next-line unicorn/no-thenable
    then: inner,
    else: inner,
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }),
    dependentSchemas: fc.dictionary(name, inner, { maxKeys: 2 }),
    unevaluatedProperties: fc.boolean(),
  };
  return fc
    .subarray(Object.keys(keywords), { maxLength: 4 })
    .chain((kept) => fc.record(Object.fromEntries(kept.map((key) => [key, keywords[key] as fc.Arbitrary<unknown>]))));
}

const withoutReferences = (schema: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === "$ref" ? undefined : value))) as JsonObject;

const definitions = fc.record({
  one: schemaOf(0).map(withoutReferences),
  other: schemaOf(1).map(withoutReferences),
  more: fc.constantFrom<JsonObject>({ a: { type: "string" } }, { $anchor: "named", type: "integer" }),
});

test("what is checked meanwhile lets through whatever the whole schema lets through", async () => {
  const counts = { needCompiler: 0, fit: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(schemaOf(2), definitions, fc.array(value, { minLength: 10 }), async (own, $defs, values) => {
      const schema = { ...dialect, ...own, $defs };
      const outcome = await compiler.compile(JSON.stringify(schema));
      if (outcome.kind !== "code") return;
      const whole = instantiate(outcome.code, runtime);
      const meanwhile = toPartialValidator(schema, runtime);
      if (meanwhile === undefined) return;
      if (toPlainValidator(schema, runtime) === undefined) counts.needCompiler += 1;
      for (const each of values) {
        const isRefused = meanwhile.check(each) !== undefined;
        if (isRefused) counts.refused += 1;
        if (whole.check(each) !== undefined) continue;
        counts.fit += 1;
        expect([each, isRefused]).toEqual([each, false]);
      }
    }),
    { numRuns: 600 },
  );
  expect(counts.needCompiler).toBeGreaterThan(200);
  expect(Math.min(counts.fit, counts.refused)).toBeGreaterThan(500);
}, 120_000);

test.each<[string, JsonObject, unknown, unknown]>([
  [
    "the rest of a schema that says what it must contain",
    { type: "array", items: { type: "string" }, contains: { minLength: 1 } },
    [1],
    [""],
  ],
  [
    "members beside one that only the compiler understands",
    { properties: { a: { type: "string" }, b: { dependentRequired: { a: ["b"] } } }, required: ["a"] },
    { b: {} },
    { a: "x", b: { a: 1 } },
  ],
  [
    "the branches of a choice",
    { anyOf: [{ type: "array", contains: { const: 1 } }, { type: "string" }] },
    { a: 1 },
    [],
  ],
  [
    "at least one of those of which only one may fit",
    { oneOf: [{ type: "array", contains: { const: 1 } }, { type: "array" }] },
    "text",
    [1],
  ],
  [
    "a definition",
    { $ref: "#/$defs/a", $defs: { a: { type: "object", required: ["b"], dependentRequired: { b: ["c"] } } } },
    {},
    { b: 1 },
  ],
  [
    "a definition that refers to itself",
    { $defs: { a: { items: { $ref: "#/$defs/a" }, type: ["array", "string"], contains: {} } }, $ref: "#/$defs/a" },
    ["a", [1]],
    ["a", []],
  ],
  [
    "names that are known, where none other may be",
    { properties: { a: true }, additionalProperties: false, unevaluatedItems: false },
    { b: 1 },
    { a: 1 },
  ],
])("%s is checked", (_what, schema, wrong, right) => {
  expect(toPlainValidator(schema, runtime)).toBeUndefined();
  expect(partial(schema).check(wrong)).toBeDefined();
  expect(partial(schema).check(right)).toBeUndefined();
});

test.each<[string, JsonObject, unknown]>([
  ["what must not be, as far as it is understood", { not: { type: "array", contains: { const: 1 } } }, []],
  ["what must not be, behind a reference", { not: { $ref: "#/$defs/a" }, $defs: { a: { contains: {} } } }, []],
  ["members that a pattern describes", { patternProperties: { "^a": true }, additionalProperties: false }, { a: 1 }],
  ["items that have a place", { prefixItems: [{ type: "string" }], items: { type: "number" } }, ["a", 1]],
  ["a part that has an address of its own", { properties: { a: { $id: "x", $ref: "#/$defs/a" } } }, { a: 1 }],
  ["a type that may be null", { properties: { a: { type: "string", nullable: true } }, contains: true }, { a: null }],
  [
    "beside a reference where that stands alone",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: { a: { $ref: "#/definitions/b", minimum: 3 } },
      definitions: { b: { type: "integer" } },
      if: {},
    },
    { a: 1 },
  ],
])("%s is not refused for what was left out", (_what, schema, right) => {
  expect(partial(schema).check(right)).toBeUndefined();
});

test("parts without end are not looked at", () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 200; level += 1) deep = { items: deep, contains: true };
  expect(partial(deep).check([[[1]]])).toBeUndefined();
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`p${at}`, { type: "string" }]));
  expect(toPartialValidator({ properties: many }, runtime)).toBeUndefined();
});
