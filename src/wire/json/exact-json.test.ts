import { expect, test } from "vitest";
import fc from "fast-check";
import { ExactNumber, parseExact, stringifyExact } from "./exact-json.ts";

test("numbers come out as they came in, wherever they stand", () => {
  for (const text of [
    "9223372036854775807",
    "-9223372036854775808",
    "[9007199254740993,1]",
    '{"a":{"b":[18446744073709551615]},"c":-0}',
    '{"a":1e400,"b":-1E+400,"c":1e-400}',
    '{"a":0.1234567890123456789,"b":-0.0}',
    '{"a":"9223372036854775807","9223372036854775807":"-0"}',
    '["\\"9223372036854775807",9223372036854775807,"\\\\",9007199254740993]',
  ])
    expect(stringifyExact(parseExact(text))).toBe(text);
});

test("what JavaScript holds stays a number", () => {
  for (const text of ["0", "9007199254740992", "1e3", "0.30000000000000004", "1.50", "123456789012345", "1e21"])
    expect(typeof parseExact(text)).toBe("number");
  expect(parseExact("[9007199254740993]")).toEqual([new ExactNumber("9007199254740993")]);
});

test("elsewhere it is the nearest number", () => {
  expect(JSON.stringify(parseExact('{"a":9007199254740993}'))).toBe('{"a":9007199254740992}');
});

test("is as strict as JSON.parse", () => {
  for (const text of [
    "",
    "[00000000000000000001]",
    "1234567890123456.",
    "9223372036854775807-1",
    "[-012345678901234567]",
  ])
    expect(() => parseExact(text), text).toThrow(SyntaxError);
});

test("any other JSON is what JSON.parse and JSON.stringify make of it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const expected = JSON.stringify(JSON.parse(text));
      expect(stringifyExact(parseExact(text))).toBe(expected);
      expect(JSON.stringify(parseExact(text))).toBe(expected);
    }),
  );
});
