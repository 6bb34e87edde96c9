import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ajvOracle, type OracleOptions } from "../../../../test/harness/ajv-oracle.ts";
import { readPublicTools } from "../../../../test/servers/public-tools.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { createRuntime } from "../runtime.ts";
import { toValidator, type Validator } from "../validators.ts";
import { readSchema } from "./schema-reader.ts";

/** The same values in each run: Ajv and the interpreter word some refusals differently, once in a hundred thousand. */
const seed = 20_261_127;

const runtime = createRuntime(() => performance.now(), 10_000);

function validatorOf(schema: JsonObject, using = runtime): Validator {
  const verdict = toValidator(schema, using);
  if (verdict === "unvalidated") throw new Error(`not read: ${JSON.stringify(schema)}`);
  return verdict;
}

/** What of a schema is not checked. */
const skippedOf = (schema: JsonObject): readonly string[] => [...(readSchema(schema, runtime)?.skipped ?? ["all"])];

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
/** Ajv never misses the empty name. */
const names = fc.uniqueArray(
  name.filter((each) => each !== ""),
  { maxLength: 3 },
);
const small = fc.integer({ min: 0, max: 3 });
const bound = fc.constantFrom(-1, 0, 1, 1.5, 3);

/** One to four keywords, of whatever type: what does not speak of a value must not disturb either. */
function schemaOf(levels: number): fc.Arbitrary<JsonObject> {
  const inner = levels === 0 ? fc.constant({ type: "integer" }) : schemaOf(levels - 1);
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
    const: primitive,
    enum: fc.uniqueArray(primitive, { minLength: 1, maxLength: 3 }),
    $ref: fc.constantFrom("#/$defs/small", "#/$defs/large", "#/$defs/again", "#/definitions/other", "#/$defs/alias"),
    not: inner,
    anyOf: list,
    oneOf: list,
    allOf: list,
    if: inner,
    // oxlint-disable-next-line unicorn/no-thenable
    then: inner,
    else: inner,
    maximum: bound,
    minimum: bound,
    exclusiveMaximum: bound,
    exclusiveMinimum: bound,
    multipleOf: fc.constantFrom(1, 0.5, 2, 0),
    pattern: fc.constantFrom("^a", "[a-z]{2,3}$", "\\d+", "^(?:a|b)+$"),
    maxProperties: small,
    minProperties: small,
    maxLength: small,
    minLength: small,
    maxItems: small,
    minItems: small,
    uniqueItems: fc.boolean(),
    items: fc.oneof(inner, fc.boolean()),
    prefixItems: list,
    contains: inner,
    minContains: small,
    maxContains: small,
    required: names,
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
    properties: fc.dictionary(name, fc.oneof({ weight: 5, arbitrary: inner }, { weight: 1, arbitrary: fc.boolean() }), {
      maxKeys: 4,
    }),
    patternProperties: fc.dictionary(fc.constantFrom("^[ab]$", "o", "\\d"), inner, { minKeys: 1, maxKeys: 2 }),
    dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }),
    dependentSchemas: fc.dictionary(name, inner, { maxKeys: 2 }),
    dependencies: fc.dictionary(name, fc.oneof(names, inner), { maxKeys: 2 }),
    description: fc.constant("what it is"),
    default: primitive,
    "x-order": small,
  };
  return fc
    .subarray(Object.keys(keywords), { maxLength: 4 })
    .chain((kept) => fc.record(Object.fromEntries(kept.map((key) => [key, keywords[key] as fc.Arbitrary<unknown>]))))
    .map(withoutFaults);
}

/** In Ajv's code, a list that is shorter than its tuple is not looked at any further. */
function withoutFaults(schema: JsonObject): JsonObject {
  if (schema["prefixItems"] === undefined) return schema;
  const { contains: _contains, uniqueItems: _unique, unevaluatedItems: _rest, ...kept } = schema;
  return kept;
}

/** Ajv checks the type beside a reference, which draft-07 ignores. */
const withoutTypesBesideReferences = (schema: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(schema), (_key, part: unknown) =>
    isJsonObject(part) && "$ref" in part ? { ...part, type: undefined } : part,
  ) as JsonObject;

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

/**
 * What Ajv 8 takes and ours rightly refuses: `[[1], []]` for `{ items: { contains: { type: "integer" } } }`, because of
 * an empty list behind another it repeats what it found in that one; and a member `toString` where members that were
 * not evaluated are forbidden, because it looks for its name in a plain object.
 */
function isMisjudged(schema: JsonObject, value: unknown): boolean {
  const [rules, text] = [JSON.stringify(schema), JSON.stringify(value) ?? ""];
  if (rules.includes('"contains"') && /.\[\]/.test(text)) return true;
  const names = [...text.matchAll(/"(\w+)":/g)].map(([, name = ""]) => name);
  return rules.includes('"unevaluatedProperties"') && names.some((name) => name in {});
}

/** Compares what is said of values, in the same words. */
function compare(schema: JsonObject, values: readonly unknown[], counts: { complaints: number }): void {
  const theirs = ajvOracle(schema, { runtime });
  fc.pre(theirs !== undefined && skippedOf(schema).length === 0);
  const ours = validatorOf(schema);
  for (const each of values) {
    const expected = theirs?.(each);
    if (expected === undefined || expected === "gave up" || isMisjudged(schema, each)) continue;
    if (!expected.fits) counts.complaints += 1;
    expect([each, ours.check(each)]).toEqual([each, expected.problem]);
  }
}

const values = fc.array(value, { minLength: 5, maxLength: 20 });
const itemLists = fc.record(
  {
    items: fc.array(schemaOf(0), { minLength: 1, maxLength: 3 }),
    additionalItems: fc.oneof(schemaOf(0), fc.boolean()),
  },
  { requiredKeys: ["items"] },
);

test.each([
  ["2020-12", {}, schemaOf(2)],
  ["2019-09", { $schema: "https://json-schema.org/draft/2019-09/schema" }, fc.oneof(schemaOf(1), itemLists)],
  ["draft-07", draft07, fc.oneof(schemaOf(2), itemLists).map(withoutTypesBesideReferences)],
])(
  "what is said of a value is what Ajv says, in the same words: %s",
  (_name, dialect, schemas) => {
    const counts = { complaints: 0 };
    fc.assert(
      fc.property(schemas, definitions, values, (own, others, each) =>
        compare({ ...dialect, ...own, ...others }, each, counts),
      ),
      { numRuns: 500, seed },
    );
    expect(counts.complaints).toBeGreaterThan(500);
  },
  120_000,
);

/** Keywords that are not checked, or not always. */
function partlyKnown(levels: number): fc.Arbitrary<JsonObject> {
  const inner = levels === 0 ? schemaOf(0) : partlyKnown(levels - 1);
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const unknown: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    pattern: fc.constantFrom("(?=a)", "(a)\\1", "^a"),
    format: fc.constantFrom("date", "uri", "email"),
    patternProperties: fc.dictionary(fc.constantFrom("(?=a)", "^b"), inner, { minKeys: 1, maxKeys: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), inner),
    unevaluatedProperties: fc.oneof(fc.boolean(), inner),
    unevaluatedItems: fc.oneof(fc.boolean(), inner),
    properties: fc.dictionary(name, inner, { maxKeys: 3 }),
    items: inner,
    prefixItems: list,
    contains: inner,
    maxContains: small,
    not: inner,
    if: inner,
    // oxlint-disable-next-line unicorn/no-thenable
    then: inner,
    else: inner,
    anyOf: list,
    oneOf: list,
    allOf: list,
    propertyNames: inner,
    $anchor: fc.constantFrom("one", "other"),
    $ref: fc.constantFrom("#one", "#/$defs/named", "#/$defs/large", "#/$defs/small"),
    minimum: fc.constantFrom(1, 3),
    required: names,
  };
  return fc
    .subarray(Object.keys(unknown), { maxLength: 4 })
    .chain((kept) => fc.record(Object.fromEntries(kept.map((key) => [key, unknown[key] as fc.Arbitrary<unknown>]))))
    .map(withoutFaults);
}

test.each<OracleOptions>([{}, { checksFormats: true }])(
  "whatever fits a schema fits its check, however much of it is not known: %j",
  (options) => {
    const counts = { partly: 0, fit: 0, refused: 0 };
    fc.assert(
      fc.property(partlyKnown(2), definitions, values, (own, { $defs }, all) => {
        const schema = { ...own, $defs: { ...$defs, named: { $id: "https://a.example/x", type: "string" } } };
        const theirs = ajvOracle(schema, options);
        fc.pre(theirs !== undefined);
        if (skippedOf(schema).length > 0) counts.partly += 1;
        const ours = validatorOf(schema);
        for (const each of all) {
          const isRefused = ours.check(each) !== undefined;
          if (isRefused) counts.refused += 1;
          const expected = theirs?.(each);
          if (expected === undefined || expected === "gave up" || !expected.fits) continue;
          if (isMisjudged(schema, each)) continue;
          counts.fit += 1;
          expect([each, isRefused]).toEqual([each, false]);
        }
      }),
      { numRuns: 500, seed },
    );
    expect(counts.partly).toBeGreaterThan(50);
    expect(Math.min(counts.fit, counts.refused)).toBeGreaterThan(500);
  },
  120_000,
);

const named = { $defs: { a: { $anchor: "here", type: "string" }, "b/c d": { type: "integer" } } };

test.each<[string, JsonObject, unknown, unknown]>([
  ["a choice of objects", { enum: [{ a: [1] }, "x"] }, { a: [2] }, { a: [1] }],
  ["an object that is given", { const: { a: 1, b: 2 } }, { a: 1 }, { b: 2, a: 1 }],
  ["what may be null", { type: "string", nullable: true }, 1, null],
  ["an anchor", { ...named, properties: { x: { $ref: "#here" } } }, { x: 1 }, { x: "a" }],
  ["a dynamic reference", { $dynamicAnchor: "me", type: "array", items: { $dynamicRef: "#me" } }, [1], [[]]],
  ["a recursive reference", { type: "array", items: { $recursiveRef: "#" } }, [1], [[]]],
  ["a reference that has to be decoded", { ...named, items: { $ref: "#/$defs/b~1c%20d" } }, ["a"], [1]],
  [
    "a reference by its own identifier",
    { $id: "https://a.example/x", ...named, $ref: "https://a.example/x#here" },
    1,
    "a",
  ],
  ["fields that nothing looked at", { properties: { a: {} }, unevaluatedProperties: false }, { b: 1 }, { a: 1 }],
  ["items that nothing looked at", { prefixItems: [true], unevaluatedItems: { type: "string" } }, [1, 1], [1, "a"]],
  ["items by place, without a dialect", { items: [{ type: "string" }], additionalItems: false }, ["a", 1], ["a"]],
  ["no value at all", { properties: { a: false } }, { a: 1 }, {}],
  ["a required empty name", { required: [""] }, {}, { "": 1 }],
])("%s is checked", (_what, schema, wrong, right) => {
  expect(skippedOf(schema)).toEqual([]);
  expect(validatorOf(schema).check(wrong)).toBeDefined();
  expect(validatorOf(schema).check(right)).toBeUndefined();
});

test("a chain of definitions is followed to its end", () => {
  const link = (at: number) => ({
    properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { title: "so that it is no small one" } },
  });
  const $defs = {
    ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, link(at)])),
    d40: { type: "string" },
  };
  let value: unknown = 1;
  for (let level = 0; level < 40; level += 1) value = { a: value };
  expect(validatorOf({ $ref: "#/$defs/d0", $defs }).check(value)).toMatchObject({
    message: expect.stringContaining("string"),
  });
});

const unknownPart = { $ref: "https://a.example/schema" };

describe("what is not known is left out, and the rest is checked", () => {
  test.each<[string, JsonObject, string]>([
    ["a reference to elsewhere", unknownPart, "$ref"],
    ["a reference to nothing", { $ref: "#/$defs/b", $defs: { a: true } }, "$ref"],
    ["a reference that cannot be decoded", { $ref: "#/%E0%A4%A" }, "$ref"],
    ["a circle of references", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, "$ref"],
    ["a reference in a part with an identifier", { properties: { a: { $id: "a", $ref: "#/$defs/b" } } }, "$ref"],
    ["a way through an identifier", { $ref: "#/x-a/b", "x-a": { $id: "a", b: true } }, "$ref"],
    ["an anchor that two parts have", { allOf: [{ $anchor: "a" }, { $anchor: "a" }], $ref: "#a" }, "$ref"],
    ["a demand for different items that is none", { uniqueItems: "true" }, "uniqueItems"],
    ["an empty choice", { enum: [] }, "enum"],
    ["a type that there is not", { type: "text" }, "type"],
    ["a number as text", { minimum: "3" }, "minimum"],
    ["what draft-04 says of a limit", { minimum: 1, exclusiveMinimum: true }, "exclusiveMinimum"],
    ["what is required in the style of draft-03", { properties: { a: { required: true } } }, "required"],
    ["a list as properties", { properties: [] }, "properties"],
    ["fields that a part may have looked at", { allOf: [{}], unevaluatedProperties: false }, "unevaluatedProperties"],
    ["items that a part may have looked at", { contains: {}, unevaluatedItems: false }, "unevaluatedItems"],
    ["a pattern whose program may be large", { pattern: "(a{100}b{100}){100}(a{100}b{100}){100}" }, "pattern"],
  ])("%s", (_what, schema, skipped) => {
    expect(skippedOf(schema)).toEqual([skipped]);
    const beside = {
      properties: { of: { type: "string" }, at: { type: "object", ...schema } },
      $defs: schema["$defs"],
    };
    expect(validatorOf(beside).check({ of: 1 })).toMatchObject({ path: "of" });
    expect(validatorOf(schema).check({ a: 1 })).toBeUndefined();
  });

  test.each<[string, JsonObject, unknown]>([
    ["what must not be", { not: unknownPart }, 1],
    ["what must not be, behind a reference", { not: { $ref: "#/$defs/a" }, $defs: { a: unknownPart } }, 1],
    ["what must not be, in a circle", { properties: { a: { not: { $ref: "#" } }, b: unknownPart } }, { a: { b: 1 } }],
    ["one of several", { oneOf: [unknownPart, { type: "integer" }] }, 1],
    ["a condition", JSON.parse('{"if":{"$ref":"https://a"},"then":false,"else":false}') as JsonObject, 1],
    ["at most so many", { contains: unknownPart, maxContains: 1 }, [1, 2]],
    ["at least so many", { contains: unknownPart, minContains: 2 }, [1, 2]],
    ["names of fields", { not: { propertyNames: unknownPart } }, { a: 1 }],
    [
      "fields by pattern",
      { patternProperties: { "(?=a)": { type: "string" } }, additionalProperties: false },
      { a: 1 },
    ],
    ["a pattern that must not be", { not: { pattern: "(?=a)" } }, "b"],
    ["a part too many", { anyOf: Array.from({ length: 10_001 }, (_, at) => ({ const: at })) }, -1],
  ])("and decides nothing as %s", (_what, schema, value) => {
    expect(validatorOf(schema).check(value)).toBeUndefined();
  });

  test.each<[string, JsonObject, unknown]>([
    ["none of several", { oneOf: [{ type: "string", allOf: [unknownPart] }, { type: "integer" }] }, null],
    ["two of several", { oneOf: [unknownPart, { type: "integer" }, { minimum: 1 }] }, 1],
    ["all of several", { allOf: [unknownPart, { type: "string" }] }, 1],
    ["too few", { contains: { ...unknownPart, type: "string" } }, [1]],
    ["a later item", { not: { not: { items: { anyOf: [{ type: "string" }, { minimum: 1, format: "x" }] } } } }, [1, 0]],
  ])("and hides nothing that is known: %s", (_what, schema, value) => {
    const inner = { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
    expect(validatorOf(inner).check(value)).toBeDefined();
  });

  test("an unknown dialect is not read", () => {
    expect(toValidator({ $schema: "https://a.example/dialect" }, runtime)).toBe("unvalidated");
  });

  test("more parts than it is worth, or nesting without end", () => {
    const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`p${index}`, { type: "string" }]));
    expect(skippedOf({ properties: many })).toEqual(["what is beyond the limit of parts"]);
    expect(validatorOf({ properties: many }).check({ p29999: 1 })).toBeUndefined();
    expect(validatorOf({ properties: many }).check({ p0: 1 })).toMatchObject({ path: "p0" });
    const circle: Record<string, unknown> = { type: "object" };
    circle["additionalProperties"] = circle;
    expect(skippedOf(circle)).toEqual(["what nests too deeply"]);
    expect(validatorOf(circle).check({ a: { a: 1 } })).toMatchObject({ path: "a.a" });
  });
});

describe("the schemas of real tools", () => {
  const tools = readPublicTools();

  test("are checked in full", () => {
    expect(tools.filter(({ inputSchema }) => skippedOf(inputSchema).length > 0).map(({ id }) => id)).toEqual([]);
  });

  test("with patterns, combinations and references say the same as Ajv", () => {
    const uncommon = /"(?:pattern|propertyNames|oneOf|allOf|not|\$ref|multipleOf|minProperties)":/;
    const looked = tools.filter((tool) => uncommon.test(JSON.stringify(tool.inputSchema)));
    expect(looked.length).toBeGreaterThan(20);
    const outcomes = { fits: 0, complaints: 0 };
    for (const { id, inputSchema } of looked) {
      const [ours, theirs] = [validatorOf(inputSchema), ajvOracle(inputSchema, { runtime })];
      for (const each of fc.sample(likeIt(inputSchema, inputSchema, 6), { numRuns: 60, seed: 7 })) {
        const expected = theirs?.(each);
        if (expected === undefined || expected === "gave up") throw new Error(`Ajv does not check ${id}`);
        outcomes[expected.fits ? "fits" : "complaints"] += 1;
        expect([id, each, ours.check(each)]).toEqual([id, each, expected.problem]);
      }
    }
    expect(Math.min(outcomes.fits, outcomes.complaints)).toBeGreaterThan(100);
  });
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

test("items that must differ are complained of in Ajv's words", () => {
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
  const counts = { complaints: 0 };
  fc.assert(
    fc.property(schemas, definitions, lists, (own, others, all) => compare({ ...own, ...others }, all, counts)),
    { numRuns: 300, seed },
  );
  expect(counts.complaints).toBeGreaterThan(50);
});

test("FAULT 61: a check that takes too long is given up, and the value counts as unchecked", () => {
  let now = 0;
  const slow = createRuntime(() => (now += 10), 5);
  const check = validatorOf({ type: "array", items: { type: "string" } }, slow);
  expect(check.check([1])).toBeDefined();
  expect(check.check([...Array.from({ length: 5_000 }, () => "a"), 1])).toBeUndefined();
  const same = { type: "array", uniqueItems: true };
  const many = Array.from({ length: 500 }, (_, at) => ({ at: Math.max(at, 1) }));
  expect(validatorOf(same).check(many)?.message).toContain("items 0 and 1");
  expect(validatorOf(same, slow).check(many)).toBeUndefined();
});
