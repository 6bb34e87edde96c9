import { describe, expect, test } from "vitest";
import { faultyHeaderParameter, headerParameters } from "./header-parameters.ts";

const header = (type: unknown, name: unknown): object => ({ type, "x-mcp-header": name });
const withProperties = (properties: object, more: object = {}): Record<string, unknown> => ({
  type: "object",
  properties,
  ...more,
});

describe("header parameters of a schema", () => {
  test("are found with the way to them, also in nested objects", () => {
    const schema = withProperties({
      region: header("string", "Region"),
      deep: withProperties({ level: header("integer", "Level") }),
    });
    expect(headerParameters(schema)).toEqual([
      { name: "Region", path: ["region"] },
      { name: "Level", path: ["deep", "level"] },
    ]);
    expect(faultyHeaderParameter(schema)).toBeUndefined();
  });

  test("a property that is merely called x-mcp-header is none", () => {
    expect(faultyHeaderParameter(withProperties({ "x-mcp-header": { type: "string" } }))).toBeUndefined();
    expect(headerParameters(withProperties({ "x-mcp-header": { type: "string" } }))).toEqual([]);
  });

  test.each([
    ["a line break", { a: header("string", "A\r\nEvil: 1") }],
    ["an empty name", { a: header("string", "") }],
    ["a space", { a: header("string", "My Header") }],
    ["no text", { a: header("string", 7) }],
    ["the same name twice, in another case", { a: header("string", "Region"), b: header("string", "region") }],
    ["a number", { a: header("number", "Ratio") }],
    ["an object", { a: header("object", "Whole") }],
    ["several types", { a: header(["string", "null"], "Region") }],
  ])("FAULT 45: %s makes the tool unusable over HTTP", (_what, properties) => {
    expect(faultyHeaderParameter(withProperties(properties))).toContain("x-mcp-header");
  });

  test.each([
    ["anyOf", { anyOf: [{ properties: { a: header("string", "A") } }] }],
    ["items", { properties: { list: { type: "array", items: { properties: { a: header("string", "A") } } } } }],
    ["$defs", { $defs: { x: header("string", "A") } }],
    ["not", { not: header("string", "A") }],
  ])("FAULT 45: one under %s cannot be reached by property names", (_what, more) => {
    expect(faultyHeaderParameter({ type: "object", ...more })).toContain("cannot be reached");
  });

  test("a schema without end is searched to a limit", () => {
    let schema: Record<string, unknown> = header("string", "Deep") as Record<string, unknown>;
    for (let depth = 0; depth < 5_000; depth += 1) schema = { type: "object", properties: { next: schema } };
    expect(headerParameters(schema)).toEqual([]);
    expect(() => faultyHeaderParameter(schema)).not.toThrow();
  });
});
