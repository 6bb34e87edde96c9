import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { readField, type FieldAnswer } from "./question-field.ts";

function typed(field: JsonObject, text: string, isRequired = true): FieldAnswer {
  return readField("x", field, isRequired).read(text);
}

describe("what is typed is read by the field's type:", () => {
  test.each<[JsonObject, string, string]>([
    [{ type: "string" }, ' a "b" ', '"a \\"b\\""'],
    [{ type: "integer" }, "9007199254740993", "9007199254740993"],
    [{ type: "number" }, "-1.50", "-1.50"],
    [{ type: "boolean" }, "Yes", "true"],
    [{ type: "boolean" }, "n", "false"],
    [{ type: "string", enum: ["a", "b"], enumNames: ["First", "Second"] }, "Second", '"b"'],
    [{ type: "string", oneOf: [{ const: "#f00", title: "Red" }] }, "Red", '"#f00"'],
    [{ type: "string", oneOf: [{ const: "#f00", title: "Red" }] }, "#f00", '"#f00"'],
    [
      {
        type: "array",
        items: {
          anyOf: [
            { const: "a", title: "A" },
            { const: "b", title: "B" },
          ],
        },
      },
      "A, b",
      '["a","b"]',
    ],
    [{ type: "integer", default: 3 }, "", "3"],
  ])("%j: %j is %s", (field, text, value) => expect(typed(field, text)).toEqual({ value }));
});

test.each<[JsonObject, string]>([
  [{ type: "integer" }, "1.5"],
  [{ type: "number" }, "one"],
  [{ type: "boolean" }, "perhaps"],
  [{ type: "string", enum: ["a"] }, "b"],
  [{ type: "array", items: { enum: ["a"] } }, "a,c"],
  [{ type: "string" }, "  "],
])("%j does not take %j", (field, text) => expect(typed(field, text).problem).toBeTruthy());

test("a field that may be left out is", () => expect(typed({ type: "string" }, "", false)).toEqual({}));

test("a server cannot move the cursor with what it asks", () => {
  expect(readField("x", { title: "a\u001b[2Jb", description: "c\rd" }, false).prompt).toBe(
    "a [2Jb (c d; may be left out)",
  );
});
