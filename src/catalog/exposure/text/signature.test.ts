import { describe, expect, test } from "vitest";
import { readPublicTools } from "../../../../test/servers/public-tools.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { toSignature } from "./signature.ts";

function object(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required };
}

function text(schema: JsonObject, maxTokens = 200): string {
  return toSignature(schema, { maxTokens }).text;
}

const string = { type: "string" };
const number = { type: "number" };

describe("toSignature", () => {
  test("writes required fields before optional ones", () => {
    const schema = object(
      {
        state: { type: "string", enum: ["open", "closed"] },
        owner: string,
        repo: string,
        labels: { type: "array", items: string },
      },
      ["owner", "repo"],
    );
    expect(toSignature(schema)).toEqual({
      text: '{ owner: string; repo: string; state?: "open" | "closed"; labels?: string[] }',
      cut: false,
    });
  });

  test.each<[name: string, schema: JsonObject, type: string]>([
    ["integers", { type: "integer" }, "integer"],
    ["booleans", { type: "boolean" }, "boolean"],
    ["a telling format", { type: "string", format: "date-time" }, "string<date-time>"],
    ["a format of the server's own", { type: "string", format: "*/ evil" }, "string"],
    ["constants", { const: 7 }, "7"],
    ["values of several types", { enum: ["a", 1, null, true] }, '"a" | 1 | null | true'],
    ["type lists", { type: ["string", "null"] }, "string | null"],
    ["nullable", { type: "string", nullable: true }, "string | null"],
    ["anyOf", { anyOf: [string, { type: "array", items: string }] }, "string | string[]"],
    ["anyOf of constants", { anyOf: [{ const: "a" }, { const: "b" }] }, '"a" | "b"'],
    ["arrays of unions", { type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
    ["arrays of anything", { type: "array" }, "unknown[]"],
    ["tuples", { type: "array", prefixItems: [number, string] }, "[number, string]"],
    [
      "tuples of older dialects",
      { type: "array", items: [number, number], additionalItems: string },
      "[number, number, ...string[]]",
    ],
    ["maps", { type: "object", additionalProperties: number }, "{ [key: string]: number }"],
    ["maps by pattern", { type: "object", patternProperties: { "^x-": string } }, "{ [key: string]: string }"],
    ["objects of any content", { type: "object" }, "object"],
    ["objects", object({ a: string, b: number }, ["b"]), "{ b: number; a?: string }"],
    ["no type at all", { description: "anything" }, "unknown"],
    ["a type told by other keywords", { minLength: 1 }, "string"],
    ["allOf", { allOf: [object({ a: string }, ["a"]), object({ b: number })] }, "{ a: string; b?: number }"],
    ["true", { anyOf: [true, false] }, "unknown | never"],
  ])("knows %s", (_, schema, type) => {
    expect(toSignature(object({ x: schema }, ["x"]), { maxTokens: 200 })).toEqual({
      text: `{ x: ${type} }`,
      cut: false,
    });
  });

  test("follows local references, at the root too", () => {
    const schema = {
      $ref: "#/$defs/a~1b",
      $defs: {
        "a/b": object({ at: { $ref: "#/$defs/point" } }, ["at"]),
        point: object({ x: number }, ["x"]),
      },
    };
    expect(text(schema)).toBe("{ at: { x: number } }");
  });

  test("quotes names that are no identifiers, and shows what is hidden in them", () => {
    expect(text(object({ "auth-method": string, 'a"b': string, "z\u200bw": string }))).toBe(
      '{ "a\\"b"?: string; "z\\u200bw"?: string; "auth-method"?: string }',
    );
  });

  test("says which of several fields is needed", () => {
    const schema = {
      ...object({ id: string, name: string, at: number }),
      anyOf: [{ required: ["id"] }, { required: ["name", "at"] }],
    };
    expect(text(schema)).toBe("{ id?: string; name?: string; at?: number } /* needs id or name and at */");
  });

  test("joins fields with their variants", () => {
    const schema = {
      ...object({ id: string }, ["id"]),
      oneOf: [object({ a: string }, ["a"]), object({ b: string }, ["b"])],
    };
    expect(text(schema)).toBe("{ id: string } & ({ a: string } | { b: string })");
  });

  test("takes no properties, and no keywords, for what they are", () => {
    expect(text({ type: "object" })).toBe("{}");
    expect(text({})).toBe("{ [key: string]: unknown }");
  });

  test("a rule that no signature can show counts as cut", () => {
    expect(toSignature({ ...object({ a: string }), dependentRequired: { a: ["b"] } }).cut).toBe(true);
    expect(toSignature({ ...object({ a: string }), if: {}, else: {} }).cut).toBe(true);
  });

  test("cuts long lists of values and says so", () => {
    const values = Array.from({ length: 40 }, (_, at) => `value${at}`);
    const { text: cut, cut: isCut } = toSignature(object({ x: { enum: values } }, ["x"]));
    expect(cut).toMatch(/^\{ x: "value0" \| "value1" \|.* \| \.\.\. \}$/);
    expect(isCut).toBe(true);
  });

  test("opens optional objects one level deep, required ones further", () => {
    const inner = object({ c: object({ d: string }, ["d"]) }, ["c"]);
    expect(toSignature(object({ a: inner }))).toEqual({ text: "{ a?: { c: object } }", cut: true });
    expect(toSignature(object({ a: inner }, ["a"]))).toEqual({
      text: "{ a: { c: { d: string } } }",
      cut: false,
    });
  });

  test("gives up optional types, then optional fields, never required ones", () => {
    const names = Array.from({ length: 30 }, (_, at) => `parameter${at}`);
    const schema = object(Object.fromEntries(names.map((name) => [name, { enum: ["first", "second", "third"] }])), [
      "parameter29",
    ]);
    const medium = toSignature(schema, { maxTokens: 60 });
    expect(medium.text).toMatch(/^\{ parameter29: "first" \| "second" \| "third"; .*parameter\d+\?; .*\.\.\. \}$/);
    expect(medium.cut).toBe(true);
    expect(toSignature(schema, { maxTokens: 5 })).toEqual({
      text: '{ parameter29: "first" | "second" | "third"; ... }',
      cut: true,
    });
  });

  test("puts fields of the connection behind those of the task", () => {
    expect(text(object({ tenant: string, "retry-delay": number, vault: string, key: string }, ["key"]))).toBe(
      '{ key: string; vault?: string; tenant?: string; "retry-delay"?: number }',
    );
  });
});

describe("FAULT 61: hostile schemas", () => {
  const cyclic: JsonObject = {
    $ref: "#/$defs/node",
    $defs: {
      node: object({ next: { $ref: "#/$defs/node" }, all: { allOf: [{ $ref: "#" }] } }, ["next"]),
    },
  };
  let deep: JsonObject = string;
  for (let level = 0; level < 10_000; level += 1) deep = object({ in: deep }, ["in"]);
  const itself: Record<string, unknown> = { type: "object", required: ["me"] };
  itself["properties"] = { me: itself };
  const many = Array.from({ length: 20_000 }, (_, at) => object({ [`f${at}`]: string }, [`f${at}`]));
  const names = Array.from({ length: 20_000 }, (_, at) => `field${at}`);

  test.each<[name: string, schema: unknown]>([
    ["cycles of references", cyclic],
    ["a reference to itself", { $ref: "#" }],
    [
      "remote references",
      object({ x: { $ref: "http://127.0.0.1:1/schema" }, y: { $ref: "file:///etc/passwd" } }, ["x", "y"]),
    ],
    ["bad pointers", object({ x: { $ref: "#/%E0%A4%A" }, y: { $ref: "#/constructor/prototype" } })],
    ["10,000 levels", deep],
    ["an object inside itself", itself],
    ["20,000 variants", { anyOf: many }],
    ["20,000 parts", { allOf: many }],
    ["20,000 required fields", object(Object.fromEntries(names.map((name) => [name, string])), names)],
    ["20,000 values", object({ x: { enum: names } })],
    ["long names and values", object({ ["n".repeat(100_000)]: { const: "v".repeat(100_000) } })],
    [
      "wrong types of keywords",
      { type: 7, properties: [1], required: "all", anyOf: {}, enum: [], allOf: 3, items: "x" },
    ],
    ["no object", null],
    ["a list", []],
    [
      "keys of Object.prototype",
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{},"toString":{}},"required":["__proto__"]}',
      ),
    ],
    [
      "parts with __proto__",
      JSON.parse('{"allOf":[{"__proto__":{"admin":true},"properties":{"__proto__":{"type":"string"}}}]}'),
    ],
    [
      "getters that throw",
      Object.defineProperty({ type: "object" }, "properties", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
    ],
  ])("%s end in a short text", (_, schema) => {
    const signature = toSignature(schema as JsonObject);
    expect(signature.text.length).toBeLessThan(1000);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test("a field called __proto__ is a field", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
    ) as JsonObject;
    expect(text(schema)).toBe("{ __proto__: string }");
  });

  test("a name cannot end the comment that it stands in", () => {
    const schema = {
      ...object({ "a*/b": string }),
      anyOf: [{ required: ["a*/b"] }, { required: ["c"] }],
    };
    expect(text(schema)).toBe('{ "a*/b"?: string } /* needs ab or c */');
  });
});

test("no required parameter of a public server's tool is ever missing", () => {
  const required = readPublicTools().flatMap(({ id, inputSchema }) =>
    ((inputSchema["required"] ?? []) as string[]).map((field) => ({ id, inputSchema, field })),
  );
  expect(required.length).toBeGreaterThan(150);
  const missing = required.filter(({ inputSchema, field }) => {
    const signature = toSignature(inputSchema, { maxTokens: 22 }).text;
    return !signature.includes(`${field}: `) && !signature.includes(`${JSON.stringify(field)}: `);
  });
  expect(missing.map(({ id, field }) => `${id} ${field}`)).toEqual([]);
});
