import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readPublicTools } from "../../../../test/servers/public-tools.ts";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { workerUrl } from "../../../kernel/runtime/worker-file.ts";
import { createCompiler } from "../compile/compiler.ts";
import { createRuntime } from "../runtime.ts";
import { defaultValidationLimits as limits } from "../schema-limits.ts";
import { instantiate, toPlainValidator, type Validator } from "../validator.ts";

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

const draft07 = { $schema: "http://json-schema.org/draft-07/schema#" };

/** Names that occur in schemas and values alike, some of them awkward. */
const name = fc.constantFrom("a", "b", "toString", "x/y~z", "7", "");
const text = fc.constantFrom("", "a", "ab", "grün", "😀😀", "2026-01-02", "https://a.example/", "open");
const number = fc.constantFrom(-1, 0, 1, 1.5, 2, 3, 10, 2 ** 31, 2 ** 53 + 2, Number.POSITIVE_INFINITY);
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
    $ref: fc.constantFrom("#/$defs/small", "#/$defs/large", "#/$defs/again", "#/definitions/other", "#/$defs/alias"),
    not: inner,
    anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
    oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
    allOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
    maximum: bound,
    minimum: bound,
    exclusiveMaximum: bound,
    exclusiveMinimum: bound,
    multipleOf: fc.constantFrom(1, 0.5, 2, 0),
    pattern: fc.constantFrom("^a", "[a-z]{2,3}$", "\\d+", "(?=a)", "(a)\\1", "(unended"),
    maxProperties: small,
    minProperties: small,
    maxLength: small,
    minLength: small,
    format: fc.constantFrom("date", "uri", "password", "email", "int32", "int64", "float"),
    maxItems: small,
    minItems: small,
    uniqueItems: fc.boolean(),
    items: fc.oneof(inner, fc.constant(true)),
    required: fc.uniqueArray(
      name.filter((each) => each !== ""),
      { maxLength: 3 },
    ),
    propertyNames: fc.oneof(
      fc.constantFrom<JsonObject>(
        { type: "string" },
        { type: "string", description: "The name of a field" },
        { type: "string", minLength: 1 },
        { enum: ["a", "b"] },
        { pattern: "^[a-z]" },
        { not: { const: "a" } },
        { anyOf: [{ maxLength: 1 }, { const: "toString" }] },
        { $ref: "#/$defs/small" },
      ),
      inner.map(({ type: _type, ...rest }) => rest),
    ),
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

/** What the references above point at: small and large ones, which Ajv treats differently, and those that go on. */
const definitions = fc.record({
  $defs: fc.record({
    small: fc.constantFrom<JsonObject>(
      { type: "integer" },
      { type: ["string", "null"], enum: ["a", null], maxLength: 1, examples: ["a"] },
      { type: "array", items: { type: "string" } },
    ),
    large: leafOf().map((leaf) => ({ ...leaf, properties: { a: { title: "A" }, b: { minimum: 1 }, "x/y~z": leaf } })),
    again: leafOf().map((leaf) => ({ ...leaf, properties: { a: { $ref: "#/$defs/again" }, b: { $ref: "#" } } })),
    alias: fc.constant({ $ref: "#/definitions/other", description: "the same" }),
  }),
  definitions: fc.record({ other: leafOf() }),
});

function leafOf(): fc.Arbitrary<JsonObject> {
  return fc.record(
    {
      type: fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 }),
      enum: fc.uniqueArray(primitive, { minLength: 1, maxLength: 3 }),
      minimum: bound,
      maxLength: small,
    },
    { requiredKeys: [] },
  );
}

test("in draft-07, references mean what they mean to the compiler, or are left to it", async () => {
  const member = fc.oneof(schemaOf(0), leafOf(), fc.constantFrom({ $ref: "#/$defs/small" }, { $ref: "#/$defs/alias" }));
  const whole = fc.record({ properties: fc.dictionary(name, member), allOf: fc.tuple(member, member) });
  const values = fc.array(value, { minLength: 5, maxLength: 20 });
  let looked = 0;
  await fc.assert(
    fc.asyncProperty(whole, definitions, values, async (own, others, each) => {
      const given = { ...draft07, ...own, ...others };
      const ours = toPlainValidator(given, runtime);
      if (ours === undefined) return;
      looked += 1;
      const theirs = await compiled(given);
      for (const one of each) expect(ours.check(one)).toEqual(theirs.check(one));
    }),
    { numRuns: 200 },
  );
  expect(looked).toBeGreaterThan(50);
}, 60_000);

test("what is said of a value is what the compiled check says, in the same words", async () => {
  let complaints = 0;
  await fc.assert(
    fc.asyncProperty(schemaOf(2), definitions, fc.array(value, { minLength: 5, maxLength: 20 }), async (...all) => {
      const [own, others, values] = all;
      const given = { ...own, ...others };
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
    ["a pattern whose program may be large", { pattern: "(a{100}b{100}){100}" }],
    ["more patterns than may be", { anyOf: Array.from({ length: 20 }, () => ({ pattern: "a".repeat(499) })) }],
    ["a reference to elsewhere", { properties: { a: { $ref: "https://a.example/schema" } } }],
    ["a reference to nothing", { $ref: "#/$defs/b", $defs: { a: true } }],
    ["a reference that has to be decoded", { $ref: "#/$defs/a~1b", $defs: { "a/b": true } }],
    ["a circle of references", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["a definition with an identifier", { type: "string", $defs: { a: { $id: "a" } } }],
    ["a way through an identifier", { $ref: "#/x-a/b", "x-a": { $id: "a", b: true } }],
    ["a condition", { if: { type: "string" }, else: { minimum: 1 } }],
    ["members by pattern", { patternProperties: { "^a": true } }],
    ["a demand for different items that is none", { uniqueItems: "true" }],
    ["a keyword that nobody knows", { frobnicate: 1 }],
    ["items by place", { items: [{ type: "string" }] }],
    ["a choice of objects", { enum: [{ a: 1 }] }],
    ["an empty choice", { enum: [] }],
    ["no schema at all", { properties: { a: false } }],
    ["a type that there is not", { type: "text" }],
    ["a number as text", { minimum: "3" }],
    ["an identifier", { $id: "https://a.example/schema" }],
    [
      "more than a reference where the dialect ignores it",
      { ...draft07, properties: { a: { $ref: "#", minimum: 1 } } },
    ],
    ["another dialect", { $schema: "http://json-schema.org/draft-04/schema#" }],
    ["names that are no texts", { propertyNames: { type: "integer" } }],
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

describe("the schemas of real tools", () => {
  const tools = readPublicTools();
  const isPlain = ({ inputSchema }: { inputSchema: JsonObject }): boolean =>
    toPlainValidator(inputSchema, runtime) !== undefined;

  test("are plain, nearly all of them", () => {
    expect(tools.filter(isPlain).length / tools.length).toBeGreaterThan(0.99);
  });

  test("with patterns, combinations and references say the same as their compiled checks", async () => {
    const uncommon = /"(?:pattern|propertyNames|oneOf|allOf|not|\$ref|multipleOf|minProperties)":/;
    const looked = tools.filter((tool) => uncommon.test(JSON.stringify(tool.inputSchema)) && isPlain(tool));
    expect(looked.length).toBeGreaterThan(20);
    const outcomes = { fits: 0, complaints: 0 };
    for (const { id, inputSchema } of looked) {
      const [ours, theirs] = [plain(inputSchema), await compiled(inputSchema)];
      for (const each of fc.sample(likeIt(inputSchema, inputSchema, 6), { numRuns: 60, seed: 7 })) {
        const expected = theirs.check(each);
        outcomes[expected === undefined ? "fits" : "complaints"] += 1;
        expect([id, each, ours.check(each)]).toEqual([id, each, expected]);
      }
    }
    expect(Math.min(outcomes.fits, outcomes.complaints)).toBeGreaterThan(100);
  }, 60_000);
});

/** Values that mostly have the shape that a schema wants, and often not quite. */
function likeIt(root: JsonObject, schema: JsonObject, levels: number): fc.Arbitrary<unknown> {
  const texts = fc.constantFrom("#00ff00", "2026-01-02", "a-b_c", "a:asc", "", "é", "10.0.0.1");
  const odd = fc.oneof(texts, number, fc.constant(null), fc.constant([]), fc.constant({}));
  const { $ref, type, properties, items, required } = schema;
  const choices = [schema["enum"], schema["anyOf"], schema["oneOf"], schema["allOf"]];
  const [values, ...branches] = choices.map((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []));
  const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd });
  if (levels === 0) return odd;
  if (typeof $ref === "string") return likeIt(root, followed(root, $ref), levels - 1);
  if (values !== undefined && values.length > 0) return mostly(fc.constantFrom(...values));
  const several = branches.flat() as JsonObject[];
  if (several.length > 0 && properties === undefined)
    return mostly(fc.oneof(...several.map((branch) => likeIt(root, branch, levels - 1))));
  if (type === "array" && items !== undefined)
    return mostly(fc.array(likeIt(root, items as JsonObject, levels - 1), { maxLength: 2 }));
  if (type === "object" || properties !== undefined) {
    const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonObject>>);
    const each = Object.fromEntries(members.map(([key, inner]) => [key, likeIt(root, inner, levels - 1)]));
    return mostly(fc.record(each, { requiredKeys: (required ?? []) as string[] }));
  }
  const byType = { string: texts, integer: fc.nat(5), number: fc.nat(50), boolean: fc.boolean() };
  return mostly(typeof type === "string" && type in byType ? byType[type as keyof typeof byType] : odd);
}

function followed(root: JsonObject, reference: string): JsonObject {
  let found: JsonObject = root;
  for (const step of reference.split("/").slice(1)) found = found[step] as JsonObject;
  return found;
}

test.each([
  "https://json-schema.org/draft/2020-12/schema",
  "https://json-schema.org/draft/2019-09/schema",
  "http://json-schema.org/draft-07/schema#",
])("the dialect %s says the same", async (dialect) => {
  const given = { $schema: dialect, type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  for (const each of [{}, { a: 1 }, { a: "1" }, []])
    expect(plain(given).check(each)).toEqual((await compiled(given)).check(each));
});

test("items that must differ are complained of in the compiler's words", async () => {
  const item = fc.oneof(fc.constantFrom("a", "1", "_", "toString", "__proto__", 1, 0, -0, 2.5, true, null), value);
  const types = fc.constantFrom<unknown>(
    "string",
    "integer",
    ["string", "number"],
    ["null", "boolean", "string"],
    "object",
  );
  const items = fc.oneof(fc.record({ type: types }), schemaOf(0));
  const unique = fc.record({ uniqueItems: fc.constant(true), items }, { requiredKeys: ["uniqueItems"] });
  const alternatives = fc.array(unique, { minLength: 1, maxLength: 2 });
  const schemas = fc.oneof(unique, fc.record({ anyOf: alternatives }), fc.record({ oneOf: alternatives }));
  const lists = fc.array(fc.array(item, { maxLength: 6 }), { minLength: 10 });
  let same = 0;
  await fc.assert(
    fc.asyncProperty(schemas, definitions, lists, async (own, others, all) => {
      const given = { ...own, ...others };
      const [ours, theirs] = [plain(given), await compiled(given)];
      for (const each of all) {
        const expected = theirs.check(each);
        if (expected?.message.includes("same item") === true) same += 1;
        expect(ours.check(each)).toEqual(expected);
      }
    }),
    { numRuns: 300 },
  );
  expect(same).toBeGreaterThan(50);
}, 120_000);

test("a check that takes too long is given up, and the value counts as unchecked", () => {
  let now = 0;
  const slow = createRuntime(() => (now += 10), 5);
  const check = toPlainValidator({ type: "array", items: { type: "string" } }, slow);
  expect(check?.check([1])).toBeDefined();
  expect(check?.check([...Array.from({ length: 5_000 }, () => "a"), 1])).toBeUndefined();
  const same = { type: "array", uniqueItems: true };
  const many = Array.from({ length: 500 }, (_, at) => ({ at: Math.max(at, 1) }));
  expect(plain(same).check(many)?.message).toContain("items 0 and 1");
  expect(toPlainValidator(same, slow)?.check(many)).toBeUndefined();
});
