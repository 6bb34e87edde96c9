import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { factsOf, meaningOf, worseThan } from "./meaning.ts";

const tool = (own: object = {}): ToolDefinition => ({
  name: "write_note",
  description: "Writes a note",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  ...own,
});

describe("the meaning of a definition", () => {
  test("is the same without the order of members, runs of white space, $schema and additionalProperties", () => {
    const other = {
      inputSchema: {
        required: ["path"],
        properties: { path: { type: "string" } },
        additionalProperties: false,
        type: "object",
        $schema: "http://json-schema.org/draft-07/schema#",
      },
      description: "Writes\n  a note",
      name: "write_note",
    };
    expect(meaningOf(other)).toBe(meaningOf(tool()));
  });

  test.each([
    { description: "Writes a Note" },
    { description: "Writes a\u2028note" },
    { title: "Note" },
    { _meta: { more: true } },
    { annotations: { readOnlyHint: false } },
    { inputSchema: { type: "object", properties: { path: { type: "string", const: "a  b" } }, required: ["path"] } },
    { inputSchema: { type: "object", properties: { path: { type: "string" } }, additionalProperties: {} } },
  ])("is another with %j", (own) => {
    expect(meaningOf(tool(own))).not.toBe(meaningOf(tool()));
  });
});

describe("a definition is worse", () => {
  const worse = (before: object, after: object): readonly string[] =>
    worseThan(factsOf("write_note", tool(before)), factsOf("write_note", tool(after)));
  const requiring = (...required: string[]): object => ({ inputSchema: { type: "object", required } });

  test("with a stronger effect, without its hint, or with more that it requires", () => {
    const choosing = { inputSchema: { type: "object", properties: { mode: { enum: ["add", "delete"] } } } };
    expect(worse({ inputSchema: {} }, choosing)).toEqual(["its effect is `destroy`, and was `write`"]);
    expect(worse({ annotations: { readOnlyHint: true } }, {})).toEqual([
      "its server does not say any more that it only reads",
    ]);
    expect(worse(requiring("a"), requiring("a", "b", "c", "d", "e"))).toEqual([
      'it requires "b", "c", "d" and 1 more, which it did not',
    ]);
  });

  test("and not with other words, fewer requirements, or a hint more", () => {
    expect(worse({}, { description: "Writes notes" })).toEqual([]);
    expect(worse(requiring("a", "b"), requiring("b"))).toEqual([]);
    expect(worse({}, { annotations: { readOnlyHint: true } })).toEqual([]);
  });
});
