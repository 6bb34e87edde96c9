import { expect, test } from "vitest";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { isWithin, leanSchema } from "./discover-schema.ts";

test("shortens descriptions and drops decoration, and allows the same", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      title: {
        type: "string",
        title: "Title",
        description: "The title of the issue. It is shown in lists, in mails, on boards and everywhere else.",
        minLength: 1,
      },
      examples: { anyOf: [{ type: "string", examples: ["a"] }, { enum: ["b"] }] },
    },
    required: ["title"],
  };
  expect(leanSchema(schema)).toEqual({
    type: "object",
    properties: {
      title: { type: "string", description: "The title of the issue …", minLength: 1 },
      examples: { anyOf: [{ type: "string" }, { enum: ["b"] }] },
    },
    required: ["title"],
  });
});

test("FAULT 61: ends on deep, long and circular schemas", () => {
  let deep: JsonObject = { type: "string" };
  for (let level = 0; level < 10_000; level += 1) deep = { type: "array", items: deep, default: deep };
  const circular: Record<string, unknown> = { type: "object" };
  circular["properties"] = { me: circular };
  for (const schema of [deep, circular, { anyOf: Array.from({ length: 20_000 }, () => ({ type: "string" })) }]) {
    expect(JSON.stringify(leanSchema(schema)).length).toBeGreaterThan(10);
  }
  expect(isWithin(deep, 128)).toBe(false);
  expect(isWithin(circular, 128)).toBe(false);
});
