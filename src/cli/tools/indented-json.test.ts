import fc from "fast-check";
import { expect, test } from "vitest";
import { indentJson } from "./result-pieces.ts";

test("every JSON is indented as JSON.stringify does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test("numbers and escapes keep every character, and old white space goes", () => {
  expect(indentJson('{ "n" : 9007199254740993,\n"m":-0, "o":{ }, "t":"\\u0041 , [" }')).toBe(
    '{\n  "n": 9007199254740993,\n  "m": -0,\n  "o": { },\n  "t": "\\u0041 , ["\n}',
  );
});
