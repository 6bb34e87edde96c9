import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dropDuplicateKeys } from "./duplicate-keys.ts";

function drop(text: string): string {
  return dropDuplicateKeys(Buffer.from(text), JSON.parse(text)).toString("utf8");
}

test("without duplicates the very same bytes come back", () => {
  const bytes = Buffer.from('{ "a" : 9007199254740993, "b:c" : [ -0, 1e400, {"d":"\\u0041:"} ] }');
  expect(dropDuplicateKeys(bytes, JSON.parse(bytes.toString()))).toBe(bytes);
});

describe("the last of duplicates stays, as it was written", () => {
  test.each([
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1,"\\u0061":9007199254740993}', '{"\\u0061":9007199254740993}'],
    ['{"b":{"a":1,"a":-0},"c":[{"d":1,"d":1e400}]}', '{"b":{"a":-0},"c":[{"d":1e400}]}'],
    ['{"a":{"x":1},"b":0,"a":{"y":2}}', '{"b":0,"a":{"y":2}}'],
    ['{"__proto__":1,"__proto__":2}', '{"__proto__":2}'],
    ['{"constructor":{"prototype":1,"prototype":2}}', '{"constructor":{"prototype":2}}'],
    ['{"a":1,"a":"}:{\\"a\\":3"}', '{"a":"}:{\\"a\\":3"}'],
  ])("%s", (given, expected) => expect(drop(given)).toBe(expected));
});

test("whoever reads the result, first key or last, sees what JSON.parse saw", () => {
  const keys = fc.constantFrom("a", "b", "\\u0061", "__proto__", "x:y");
  const text = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("1", "-0", '"s:\\""', "null", "[]", "{}"),
      fc
        .array(fc.tuple(keys, tie("value")), { maxLength: 5 })
        .map((pairs) => `{${pairs.map(([key, value]) => `"${key}" : ${value}`).join(" , ")}}`),
      fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    ),
  }));
  fc.assert(
    fc.property(text.value, (given) => {
      const cleaned = drop(given);
      expect(JSON.parse(cleaned)).toEqual(JSON.parse(given));
      expect(firstWins(cleaned)).toEqual(JSON.parse(given));
    }),
  );
});

/**
 * What a parser sees that keeps the first of duplicates: keys are numbered in the text, and the highest number is
 * dropped.
 */
function firstWins(text: string): unknown {
  let count = 0;
  const numbered = text.replace(
    /"((?:[^"\\]|\\.)*)"(?= :| *:)/g,
    (_all, key: string) => `"${JSON.parse(`"${key}"`) as string}#${count++}"`,
  );
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== "object" || value === null) return value;
    const result: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      const name = key.replace(/#\d+$/, "");
      if (!Object.hasOwn(result, name))
        Object.defineProperty(result, name, {
          value: strip(inner),
          enumerable: true,
          configurable: true,
          writable: true,
        });
    }
    return result;
  };
  return strip(JSON.parse(numbered));
}
