import * as fc from "fast-check";
import { expect, test } from "vitest";
import { asciiJson } from "./ascii-json.ts";

test("is ASCII, and says what JSON.stringify says", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue({ stringUnit: "grapheme" }), fc.string({ unit: "binary" })), (value) => {
      const text = asciiJson(value);
      expect(Buffer.from(text, "latin1").every((byte) => byte >= 0x20 && byte < 0x7f)).toBe(true);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test.each([
  ["\u007f", '"\\u007f"'],
  ["\u2028", '"\\u2028"'],
  ["ä", '"\\u00e4"'],
  ["🙂", '"\\ud83d\\ude42"'],
  ["\ud800", '"\\ud800"'],
  ["\n\0", '"\\n\\u0000"'],
])("%j becomes %s", (given, expected) => expect(asciiJson(given)).toBe(expected));
