import { describe, expect, test } from "vitest";
import { readJsonBody } from "./json-body.ts";

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

test("an object is read, small or large", async () => {
  const text = ' \r\n\t{"a": 1.50, "b" :{"c":"ü"}}\n';
  for (const space of ["", " ".repeat(1_000_000)])
    expect(await readJsonBody(Buffer.from(text + space), 10)).toEqual({ a: 1.5, b: { c: "ü" } });
});

describe("a body is refused", () => {
  test.each([
    ["an array", "[{}]", "REQUEST_INVALID"],
    ["an array that is not complete", " [1", "REQUEST_INVALID"],
    ["a text", '"{}"', "REQUEST_INVALID"],
    ["null", "null", "REQUEST_INVALID"],
    ["nothing", "", "PARSE_ERROR"],
    ["spaces", "  \n", "PARSE_ERROR"],
    ["cut off", '{"a":1', "PARSE_ERROR"],
    ["followed by something", '{"a":1}{"b":2}', "PARSE_ERROR"],
    ["with a trailing comma", '{"a":1,}', "PARSE_ERROR"],
    ["with a byte order mark", "\ufeff{}", "PARSE_ERROR"],
  ])("that is %s", async (_what, text, code) => {
    await expect(readJsonBody(Buffer.from(text), 10)).rejects.toThrow(expect.objectContaining({ code }));
  });

  test("that is not UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    await expect(readJsonBody(bytes, 10)).rejects.toThrow(expect.objectContaining({ code: "PARSE_ERROR" }));
  });

  test("that is nested one level deeper than the limit, or a million", async () => {
    expect(Object.keys(await readJsonBody(Buffer.from(nested(5)), 5))).toEqual(["a"]);
    for (const depth of [6, 1_000_000])
      await expect(readJsonBody(Buffer.from(nested(depth)), 5)).rejects.toThrow(
        expect.objectContaining({ code: "BODY_TOO_DEEP" }),
      );
  });
});

test("a member called __proto__ is data, and changes no object", async () => {
  const value = await readJsonBody(Buffer.from('{"__proto__":{"isAdmin":true}}'), 10);
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(value["isAdmin"]).toBeUndefined();
});
