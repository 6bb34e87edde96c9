import { createRequire } from "node:module";
import { afterAll, describe, expect, test } from "vitest";
import { hostileSchemas } from "../../../bench/hostile-schemas.ts";
import { readPublicTools } from "../../../test/servers/public-tools.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Verdict } from "./validator-cache.ts";
import { createValidators } from "./validators.ts";
import { patientLimits } from "../../../test/harness/patient-limits.ts";

const never = new AbortController().signal;
const reasons = new Map<string, string>();
const validators = createValidators({
  clock: systemClock,
  onUnvalidated: (hash, reason) => reasons.set(hash, reason),
});
afterAll(() => validators[Symbol.asyncDispose]());

const prepare = (schema: JsonObject): Promise<Verdict> => validators.prepare(JSON.stringify(schema), schema, never);

/** The result of a check. Fails the test when the schema is unvalidated. */
async function check(schema: JsonObject, value: unknown): Promise<{ path: string; message: string } | undefined> {
  const verdict = await prepare(schema);
  if (verdict === "unvalidated") throw new Error(`unvalidated: ${reasons.get(JSON.stringify(schema))}`);
  return verdict.check(value);
}

test("a check changes nothing: no defaults, no coercion, no removal", async () => {
  const schema = {
    properties: { a: { default: 1 }, b: { type: "number" } },
    additionalProperties: false,
  };
  const value = Object.freeze({ b: "5", c: 1 });
  await check(schema, value);
  expect(value).toEqual({ b: "5", c: 1 });
});

describe("FAULT 15: names of Object.prototype are plain data", () => {
  test("inherited members are neither required members nor checked", async () => {
    expect(await check({ required: ["toString"] }, {})).toMatchObject({ path: "toString" });
    expect(
      await check({ properties: { constructor: { type: "string" }, toString: { type: "string" } } }, {}),
    ).toBeUndefined();
    expect(await check({ properties: { constructor: { type: "string" } } }, { constructor: 1 })).toMatchObject({
      path: "constructor",
    });
  });

  test("__proto__ in arguments, schemas and format names changes no prototype", async () => {
    const argument: unknown = JSON.parse('{"__proto__":{"admin":true},"a":1}');
    expect(await check({ type: "object" }, argument)).toBeUndefined();
    expect(await check({ additionalProperties: false, properties: { a: {} } }, argument)).toMatchObject({
      path: "__proto__",
    });
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"default":{"admin":true}},"a":{"format":"__proto__"}}}',
    ) as JsonObject;
    expect(await check(schema, { a: "x" })).toBeUndefined();
    expect(await check({ format: "hasOwnProperty" }, "x")).toBeUndefined();
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
  ])("%j takes %s", async (schema, text) => {
    expect(await check(schema, parsed(text))).toBeUndefined();
  });

  test("a limit still holds for them", async () => {
    expect(await check({ maximum: 10 }, parsed("1e400"))).toMatchObject({
      message: "the value must be <= 10",
    });
  });
});

describe("FAULT 61: hostile schemas", () => {
  test.each(hostileSchemas().map((hostile) => [hostile.name, hostile] as const))(
    "%s: compiled or unvalidated, and never endless",
    async (_name, hostile) => {
      const verdict = await validators.prepare(`hostile ${hostile.name}`, hostile.schema, never);
      if (verdict !== "unvalidated") verdict.check(hostile.value);
      expect(await check({ type: "string" }, 1)).toBeDefined();
      expect(globalThis).not.toHaveProperty("hijacked");
    },
  );

  test("$ref with http or file is unvalidated", async () => {
    expect(await prepare({ $ref: "https://example.com/schema.json" })).toBe("unvalidated");
    expect(await prepare({ properties: { a: { $ref: "file:///etc/passwd" } } })).toBe("unvalidated");
  });

  test("$id is nobody else's: two schemas may share one", async () => {
    expect(await check({ $id: "https://example.com/tool", type: "string" }, 1)).toBeDefined();
    expect(await check({ $id: "https://example.com/tool", type: "number" }, 1)).toBeUndefined();
  });

  test.each(["$id", "$defs"])("a comment's end in %s does not become code", async (place) => {
    const id = "*/;globalThis.hijacked=true;/*";
    const schema = place === "$id" ? { $id: id } : { $ref: "#/const", const: { $id: id, type: "string" } };
    expect(await prepare(schema)).toBe("unvalidated");
  });

  test("a pattern that only backtracking can match is left out, and the rest is checked", async () => {
    const schema = {
      properties: {
        a: { type: "string", pattern: "^(?!b).*$" },
        b: { type: "string", pattern: "^(a+)+$" },
      },
    };
    expect(await check(schema, { a: "b" })).toBeUndefined();
    expect(await check(schema, { a: 1 })).toMatchObject({ path: "a" });
    expect(await check(schema, { b: `${"a".repeat(1_000)}!` })).toMatchObject({ path: "b" });
  });

  test("a patternProperties key that cannot be matched leaves no field unknown", async () => {
    const schema = {
      properties: { a: { type: "string" } },
      patternProperties: { "^(?!x)": { type: "number" } },
      additionalProperties: false,
    };
    expect(await check(schema, { other: "x" })).toBeUndefined();
    expect(await check(schema, { a: 1 })).toMatchObject({ path: "a" });
    expect(await check({ ...schema, patternProperties: { "^x-": { type: "number" } } }, { "x-a": "1" })).toMatchObject({
      path: "x-a",
    });
  });

  test("recursion in schema and value is followed", async () => {
    const tree = {
      type: "object",
      properties: { next: { $ref: "#" } },
      additionalProperties: false,
    };
    let value: JsonObject = { wrong: 1 };
    for (let level = 0; level < 60; level++) value = { next: value };
    expect((await check(tree, value))?.message).toMatch(/^unknown field/);
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
  // Only the compiler knows the keyword, and both ways have to agree.
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
    ])("%j takes %j", async (said, value) => {
      const schema = { ...dialect, ...more, properties: { at: said }, definitions: { day: date, instant: time } };
      expect(await check(schema, { at: value })).toBeUndefined();
    });

    test.each([
      [date, 7],
      [{ oneOf: [date, time] }, 7],
      [{ oneOf: [{ minimum: 1 }, { maximum: 3 }] }, 2],
      [{ not: { type: "string" } }, "x"],
      [{ not: { properties: { format: { const: "csv" } }, required: ["format"] } }, { format: "csv" }],
    ])("%j still refuses %j", async (said, value) => {
      const schema = { ...dialect, ...more, properties: { at: said, day: date } };
      expect(await check(schema, { at: value })).toMatchObject({ path: "at" });
    });
  });
});

test("what was prepared is looked up at once, until it is forgotten", async () => {
  expect(validators.lookup("known")).toBeUndefined();
  const verdict = await validators.prepare("known", { type: "string" }, never);
  expect(validators.lookup("known")).toBe(verdict);
  validators.forget("known");
  expect(validators.lookup("known")).toBeUndefined();
});

test("the main thread does not load Ajv", async () => {
  await check({ pattern: "a", minLength: 1, patternProperties: {} }, "x");
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  expect(loaded.filter((file) => file.includes("/ajv/"))).toEqual([]);
});

test("every schema of public servers' tools compiles", async () => {
  await using own = createValidators({ clock: systemClock, limits: patientLimits });
  const unvalidated: string[] = [];
  for (const tool of readPublicTools())
    if ((await own.prepare(tool.id, tool.inputSchema, never)) === "unvalidated") unvalidated.push(tool.id);
  expect(unvalidated).toEqual([]);
}, 60_000);
