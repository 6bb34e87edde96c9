import { describe, expect, test } from "vitest";
import { hostileSchemas } from "../../../bench/hostile-schemas.ts";
import { patientLimits } from "../../../test/harness/patient-limits.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { createValidators } from "./validators.ts";

const reasons = new Map<string, string>();
const onUnchecked = (hash: string, reason: string): unknown => reasons.set(hash, reason);
const validators = createValidators({ clock: systemClock, onUnchecked });
/** On a busy machine a check may take longer than a gateway lets it. */
const patient = createValidators({ clock: systemClock, onUnchecked, limits: patientLimits });

/** The result of a check. Fails the test when the schema is unvalidated. */
function check(schema: JsonObject, value: unknown): { path: string; message: string } | undefined {
  const verdict = patient.verdict(JSON.stringify(schema), schema);
  if (verdict === "unvalidated") throw new Error(`unvalidated: ${reasons.get(JSON.stringify(schema))}`);
  return verdict.check(value);
}

test("a check changes nothing: no defaults, no coercion, no removal", () => {
  const schema = {
    properties: { a: { default: 1 }, b: { type: "number" } },
    additionalProperties: false,
  };
  const value = Object.freeze({ b: "5", c: 1 });
  check(schema, value);
  expect(value).toEqual({ b: "5", c: 1 });
});

describe("FAULT 15: names of Object.prototype are plain data", () => {
  test("inherited members are neither required members nor checked", () => {
    expect(check({ required: ["toString"] }, {})).toMatchObject({ path: "toString" });
    expect(
      check({ properties: { constructor: { type: "string" }, toString: { type: "string" } } }, {}),
    ).toBeUndefined();
    expect(check({ properties: { constructor: { type: "string" } } }, { constructor: 1 })).toMatchObject({
      path: "constructor",
    });
  });

  test("__proto__ in arguments, schemas and format names changes no prototype", () => {
    const argument: unknown = JSON.parse('{"__proto__":{"admin":true},"a":1}');
    expect(check({ type: "object" }, argument)).toBeUndefined();
    expect(check({ additionalProperties: false, properties: { a: {} } }, argument)).toMatchObject({
      path: "__proto__",
    });
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"default":{"admin":true}},"a":{"format":"__proto__"}}}',
    ) as JsonObject;
    expect(check(schema, { a: "x" })).toBeUndefined();
    expect(check({ format: "hasOwnProperty" }, "x")).toBeUndefined();
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });
});

describe("FAULT 18: numbers that JavaScript cannot hold are not refused for it", () => {
  const parsed = (text: string): unknown => JSON.parse(text);

  test.each([
    [{ type: "number" }, "1e400"],
    [{ type: "integer" }, "1e400"],
    [{ type: "integer", multipleOf: 2 }, "1e400"],
    [{ type: "integer" }, "9007199254740993"],
    [{ exclusiveMinimum: 9007199254740992 }, "9007199254740993"],
    [{ uniqueItems: true }, "[9007199254740992,9007199254740993]"],
    [{ type: "integer" }, "-0"],
  ])("%j takes %s", (schema, text) => {
    expect(check(schema, parsed(text))).toBeUndefined();
  });

  test("a limit still holds for them", () => {
    expect(check({ maximum: 10 }, parsed("1e400"))).toMatchObject({
      message: "the value must be <= 10",
    });
  });
});

describe("FAULT 61: hostile schemas", () => {
  test.each(hostileSchemas().map((hostile) => [hostile.name, hostile] as const))(
    "%s: checked as far as it is known, and never endless",
    (_name, hostile) => {
      const verdict = validators.verdict(`hostile ${hostile.name}`, hostile.schema);
      if (verdict !== "unvalidated") verdict.check(hostile.value);
      expect(check({ type: "string" }, 1)).toBeDefined();
      expect(globalThis).not.toHaveProperty("hijacked");
    },
  );

  test("a schema that is too large or too deep is not read", () => {
    let deep: JsonObject = { type: "string" };
    for (let level = 0; level < 10_000; level += 1) deep = { items: deep };
    for (const [hash, schema] of Object.entries({
      deep,
      large: { description: "x".repeat(300_000), type: "string" },
    })) {
      expect(validators.verdict(hash, schema)).toBe("unvalidated");
      expect(reasons.get(hash)).toContain("too large or too deep");
    }
  });

  test("$ref with http or file is not followed, and the rest is checked", () => {
    for (const $ref of ["https://example.com/schema.json", "file:///etc/passwd"]) {
      const schema = { properties: { a: { $ref }, b: { type: "string" } } };
      expect(check(schema, { a: 1 })).toBeUndefined();
      expect(check(schema, { b: 1 })).toMatchObject({ path: "b" });
      expect(reasons.get(JSON.stringify(schema))).toBe("a tool's schema is checked in part, without $ref");
    }
  });

  test("$id is nobody else's: two schemas may share one", () => {
    expect(check({ $id: "https://example.com/tool", type: "string" }, 1)).toBeDefined();
    expect(check({ $id: "https://example.com/tool", type: "number" }, 1)).toBeUndefined();
  });

  test("a pattern that only backtracking can match is left out, and the rest is checked", () => {
    const schema = {
      properties: {
        a: { type: "string", pattern: "^(?!b).*$" },
        b: { type: "string", pattern: "^(a+)+$" },
      },
    };
    expect(check(schema, { a: "b" })).toBeUndefined();
    expect(check(schema, { a: 1 })).toMatchObject({ path: "a" });
    expect(check(schema, { b: `${"a".repeat(1_000)}!` })).toMatchObject({ path: "b" });
  });

  test("a patternProperties key that cannot be matched leaves no field unknown", () => {
    const schema = {
      properties: { a: { type: "string" } },
      patternProperties: { "^(?!x)": { type: "number" } },
      additionalProperties: false,
    };
    expect(check(schema, { other: "x" })).toBeUndefined();
    expect(check(schema, { a: 1 })).toMatchObject({ path: "a" });
    expect(check({ ...schema, patternProperties: { "^x-": { type: "number" } } }, { "x-a": "1" })).toMatchObject({
      path: "x-a",
    });
  });

  test("recursion in schema and value is followed", () => {
    const tree = {
      type: "object",
      properties: { next: { $ref: "#" } },
      additionalProperties: false,
    };
    let value: JsonObject = { wrong: 1 };
    for (let level = 0; level < 60; level++) value = { next: value };
    expect(check(tree, value)?.message).toMatch(/^unknown field/);
  });
});

const dialects = [
  undefined,
  "https://json-schema.org/draft/2020-12/schema",
  "https://json-schema.org/draft/2019-09/schema",
  "http://json-schema.org/draft-07/schema#",
  "http://json-schema.org/draft-04/schema#",
];

describe.each(dialects)("a format is an annotation in the dialect %s", ($schema) => {
  const dialect = $schema === undefined ? {} : { $schema };
  const date = { type: "string", format: "date" };
  const time = { type: "string", format: "date-time" };
  describe.each([{}, { patternProperties: { "^never": { type: "null" } } }])("beside %j", (more) => {
    test.each([
      [{ format: "email" }, "x"],
      [{ format: "int32" }, 2 ** 40],
      [date, "tomorrow"],
      [{ anyOf: [date, { type: "null" }] }, "tomorrow"],
      [{ oneOf: [date, time] }, "2026-01-01"],
      [{ oneOf: [date, time, { type: "integer" }] }, 7],
      [{ oneOf: [{ $ref: "#/definitions/day" }, { $ref: "#/definitions/instant" }] }, "tomorrow"],
      [{ not: { type: "string", format: "uuid" } }, "x"],
      [{ not: { $ref: "#/definitions/day" } }, "x"],
      [JSON.parse('{"if":{"format":"date"},"then":{"minLength":1000}}') as JsonObject, "x"],
      [{ type: "object", propertyNames: { format: "uuid" } }, { a: 1 }],
      [{ type: "array", contains: date, maxContains: 1 }, ["a", "b"]],
    ])("%j takes %j", (said, value) => {
      const schema = { ...dialect, ...more, properties: { at: said }, definitions: { day: date, instant: time } };
      expect(check(schema, { at: value })).toBeUndefined();
    });

    test.each([
      [date, 7],
      [{ oneOf: [date, time] }, 7],
      [{ oneOf: [{ minimum: 1 }, { maximum: 3 }] }, 2],
      [{ not: { type: "string" } }, "x"],
      [{ not: { properties: { format: { const: "csv" } }, required: ["format"] } }, { format: "csv" }],
    ])("%j still refuses %j", (said, value) => {
      const schema = { ...dialect, ...more, properties: { at: said, day: date } };
      expect(check(schema, { at: value })).toMatchObject({ path: "at" });
    });
  });
});

test("what was read is kept until it is forgotten", () => {
  const schema = { type: "string" };
  const verdict = validators.verdict("known", schema);
  expect(validators.verdict("known", schema)).toBe(verdict);
  validators.forget("known");
  expect(validators.verdict("known", schema)).not.toBe(verdict);
});
