import { AjvJsonSchemaValidator as Older } from "@modelcontextprotocol/sdk/validation/ajv";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { schemaFault } from "./schema-fault.ts";

const words = fc.constantFrom("a", "b", "$defs", "type", "$ref", "$id", "__proto__", "constructor", "x/y~z");
const patterns = fc.constantFrom("^a+$", "[", "\\p{L}", "\\d", "(?<a>b)", "\\-", "a{2,1}", "");
const references = fc.constantFrom(
  "#",
  "#/$defs/a",
  "#/$defs/b",
  "#/properties/a",
  "#/$defs/x~1y~0z",
  "#a",
  "other.json",
  "#/items/0",
  "",
);
const types = fc.constantFrom("object", "array", "string", "null", "text", ["string", "null"], [], ["x"], null, 7);

/** Schemas as people write them, with values of other kinds in the places of all keywords. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const sub = fc.oneof(
    { maxDepth: 3 },
    { weight: 1, arbitrary: fc.constantFrom({}, true, false) },
    { weight: 3, arbitrary: tie("schema") },
  );
  const or = (good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) });
  const list = fc.array(sub, { maxLength: 2 });
  const map = fc.dictionary(words, sub, { maxKeys: 2 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: or(types),
    $ref: or(references),
    pattern: or(patterns),
    patternProperties: or(fc.dictionary(patterns, sub, { maxKeys: 1 })),
    required: or(fc.array(words, { maxLength: 2 })),
    enum: or(fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 })),
    items: or(fc.oneof(sub, list)),
    format: or(fc.constantFrom("date", "uri")),
    nullable: fc.boolean(),
    uniqueItems: or(fc.boolean()),
    dependencies: or(fc.dictionary(words, fc.oneof(sub, fc.array(words)), { maxKeys: 1 })),
    dependentRequired: or(fc.dictionary(words, fc.array(words), { maxKeys: 1 })),
    dependentSchemas: or(map),
    $id: fc.constantFrom("https://x.example/s", "s", "#x", 7, ""),
    $schema: fc.constantFrom(
      "http://json-schema.org/draft-07/schema#",
      "https://json-schema.org/draft/2020-12/schema",
      "x",
    ),
  };
  for (const name of ["properties", "$defs", "definitions"]) keywords[name] = or(map);
  for (const name of ["allOf", "anyOf", "oneOf", "prefixItems"]) keywords[name] = or(list);
  for (const name of [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "additionalProperties",
    "additionalItems",
  ])
    keywords[name] = or(sub);
  for (const name of ["unevaluatedProperties", "unevaluatedItems"]) keywords[name] = or(sub);
  for (const name of ["minimum", "multipleOf", "maxLength", "minItems", "minContains", "maxContains", "maxProperties"])
    keywords[name] = or(fc.constantFrom(0, 1, 2, 1.5, -1));
  for (const name of ["const", "default", "title", "x-other", "id", "$anchor", "$async"])
    keywords[name] = fc.jsonValue({ maxDepth: 1 });
  const one = fc
    .constantFrom(...Object.keys(keywords))
    .chain((name) => (keywords[name] as fc.Arbitrary<unknown>).map((value) => [name, value] as const));
  return { schema: fc.array(one, { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)) };
});

test("what has no fault is compiled by both official clients, whatever else it has", () => {
  let sound = 0;
  fc.assert(
    fc.property(schema, (given) => {
      const parsed = JSON.parse(JSON.stringify(given)) as JsonObject;
      if (schemaFault(parsed) !== undefined) return;
      sound += 1;
      for (const validator of [new Older(), new AjvJsonSchemaValidator()])
        expect(() => validator.getValidator(parsed as never)).not.toThrow();
    }),
    { numRuns: 1_500 },
  );
  expect(sound).toBeGreaterThan(300);
});

test.each([
  [{}],
  [{ type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string", pattern: "^\\d+$" } } }],
  [{ $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: [{ type: "string" }, true] }],
  [{ $id: "https://x.example/s", $ref: "https://x.example/s#/$defs/a", $defs: { a: {} } }],
  [{ type: "object", properties: { $ref: { type: "string" }, $id: {}, items: { items: { $ref: "#" } } } }],
])("%j has none", (given) => {
  expect(schemaFault(given)).toBeUndefined();
});

test.each([
  [{ properties: { s: { $ref: "#/$defs/Gone" } } }, "leads nowhere"],
  [{ $ref: "https://x.example/other" }, "leads nowhere"],
  [{ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, "leads to itself"],
  [{ properties: { a: { pattern: "[" } } }, "pattern"],
  [{ properties: { a: null } }, "no schema"],
  [{ type: "text" }, "type"],
  [{ minimum: null }, "minimum"],
  [{ $schema: "http://json-schema.org/draft-04/schema#" }, "$schema"],
])("%j has one, and it is named", (given, fault) => {
  expect(schemaFault(given)).toContain(fault);
});
