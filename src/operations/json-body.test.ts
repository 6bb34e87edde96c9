import { describe, expect, test } from "vitest";
import { parseJsonBody } from "./json-body.ts";

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

test("an object is read, with the bytes of its members as they were written", () => {
  const bytes = Buffer.from(' \r\n\t{"a": 1.50, "b" :{"c":"ü"}}\n');
  const { value, members } = parseJsonBody(bytes, 10);
  expect(value).toEqual({ a: 1.5, b: { c: "ü" } });
  expect(members.map(({ start, end }) => bytes.toString("utf8", start, end))).toEqual(["1.50", '{"c":"ü"}']);
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
  ])("that is %s", (_what, text, code) => {
    expect(() => parseJsonBody(Buffer.from(text), 10)).toThrow(expect.objectContaining({ code }));
  });

  test("that is not UTF-8", () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(() => parseJsonBody(bytes, 10)).toThrow(expect.objectContaining({ code: "PARSE_ERROR" }));
  });

  test("that is nested one level deeper than the limit, or a million", () => {
    expect(parseJsonBody(Buffer.from(nested(5)), 5).members).toHaveLength(1);
    for (const depth of [6, 1_000_000])
      expect(() => parseJsonBody(Buffer.from(nested(depth)), 5)).toThrow(
        expect.objectContaining({ code: "BODY_TOO_DEEP" }),
      );
  });
});

test("a member called __proto__ is data, and changes no object", () => {
  const { value } = parseJsonBody(Buffer.from('{"__proto__":{"isAdmin":true}}'), 10);
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(value["isAdmin"]).toBeUndefined();
});
