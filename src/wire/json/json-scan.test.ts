import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findMember, scanElements, scanMembers, skipValue } from "./json-scan.ts";

const plenty = 1_000;

/**
 * JSON text with white space of every kind wherever the grammar allows it, and with strings spelled in escapes now
 * and then.
 */
function spell(value: unknown, choose: () => number): string {
  const gap = (): string => ["", "", " ", "\n", "\r\n\t", "  "][choose() % 6] as string;
  const text = (plain: string): string =>
    `"${[...plain.matchAll(/[^]/g)]
      .map(([unit]) =>
        choose() % 4 === 0
          ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
          : JSON.stringify(unit).slice(1, -1),
      )
      .join("")}"`;
  const write = (part: unknown): string => {
    if (typeof part === "string") return text(part);
    if (Array.isArray(part)) return `[${gap()}${part.map(write).join(`${gap()},${gap()}`)}${gap()}]`;
    if (typeof part !== "object" || part === null) return JSON.stringify(part);
    const members = Object.entries(part).map(([key, inner]) => `${text(key)}${gap()}:${gap()}${write(inner)}`);
    return `{${gap()}${members.join(`${gap()},${gap()}`)}${gap()}}`;
  };
  return write(value);
}

function chooser(choices: readonly number[]): () => number {
  let at = 0;
  return () => choices[at++ % choices.length] ?? 0;
}

const choices = fc.array(fc.nat(23), { minLength: 1, maxLength: 50 });
const strings = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    '"',
    "\\",
    "\\\\",
    '\\"',
    "}{][,:",
    "__proto__",
    "x".repeat(60),
    `${"x".repeat(60)}\\"`,
    '"'.repeat(3_000),
    `${'"\\'.repeat(40)}\\`,
  ),
);
const values = fc.jsonValue({ maxDepth: 6, stringUnit: "grapheme" });
const objects = fc.dictionary(strings, fc.oneof(values, strings), { maxKeys: 12 });

describe("against JSON.parse", () => {
  test("every member of an object is found where it stands", () => {
    fc.assert(
      fc.property(objects, choices, (object, picked) => {
        const bytes = Buffer.from(` ${spell(object, chooser(picked))} tail`, "utf8");
        const end = skipValue(bytes, 1, bytes.length, plenty);
        const parsed = JSON.parse(bytes.toString("utf8", 1, end)) as Record<string, unknown>;
        const members = scanMembers(bytes, 0, bytes.length, plenty);
        expect(new Set(members.map(({ key }) => key))).toEqual(new Set(Object.keys(parsed)));
        for (const { key, start, end: stop, keyStart } of members) {
          expect(JSON.parse(bytes.toString("utf8", start, stop))).toEqual(parsed[key]);
          expect(bytes[keyStart]).toBe(0x22);
        }
      }),
    );
  });

  test("every element of an array is found where it stands", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(values, strings), { maxLength: 12 }), choices, (array, picked) => {
        const bytes = Buffer.from(spell(array, chooser(picked)), "utf8");
        const elements = scanElements(bytes, 0, bytes.length, plenty, plenty);
        const read = elements.map(({ start, end }) => JSON.parse(bytes.toString("utf8", start, end)) as unknown);
        expect(read).toEqual(JSON.parse(bytes.toString("utf8")));
      }),
    );
  });

  test("text that breaks off is refused or left to JSON.parse, and nothing is read beyond its end", () => {
    fc.assert(
      fc.property(objects, choices, fc.nat(), (object, picked, cut) => {
        const whole = Buffer.from(spell(object, chooser(picked)), "utf8");
        const end = cut % whole.length;
        try {
          for (const member of scanMembers(whole, 0, end, plenty)) expect(member.end).toBeLessThanOrEqual(end);
        } catch (error) {
          expect(error).toMatchObject({ code: "PARSE_ERROR" });
        }
      }),
    );
  });

  test("whatever bytes come, the scan ends with spans inside them or with a failure of ours", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("{", "[", '{"', '{"a":'), (noise, lead) => {
        const bytes = Buffer.concat([Buffer.from(lead), noise]);
        for (const scan of [
          scanMembers,
          (b: Buffer, s: number, e: number, d: number) => scanElements(b, s, e, d, plenty),
        ]) {
          try {
            for (const { start, end } of scan(bytes, 0, bytes.length, 20)) {
              expect(start).toBeLessThanOrEqual(end);
              expect(end).toBeLessThanOrEqual(bytes.length);
            }
          } catch (error) {
            expect(["PARSE_ERROR", "BODY_TOO_DEEP"]).toContain((error as { code: string }).code);
          }
        }
      }),
    );
  });
});

describe("depth", () => {
  const nested = (depth: number): Buffer => Buffer.from(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`);

  test("the limit counts the levels below the object", () => {
    expect(scanMembers(nested(63), 0, nested(63).length, 63)).toHaveLength(1);
    expect(() => scanMembers(nested(64), 0, nested(64).length, 63)).toThrowError(
      expect.objectContaining({ code: "BODY_TOO_DEEP" }),
    );
  });

  test("a million levels are refused without recursion, closed or not", () => {
    for (const bytes of [nested(1_000_000), Buffer.from(`{"a":${'{"a":'.repeat(1_000_000)}`)]) {
      expect(() => scanMembers(bytes, 0, bytes.length, 64)).toThrowError(
        expect.objectContaining({ code: "BODY_TOO_DEEP" }),
      );
    }
  });

  test("brackets inside strings are no levels", () => {
    const bytes = Buffer.from(JSON.stringify({ a: "[".repeat(500), b: "x".repeat(100) + '"]'.repeat(100) }));
    expect(scanMembers(bytes, 0, bytes.length, 1)).toHaveLength(2);
  });
});

test("of duplicates the last one is found, however its key is spelled", () => {
  const bytes = Buffer.from('{"a":1,"\\u0061":2,"b":3}');
  const members = scanMembers(bytes, 0, bytes.length, plenty);
  const found = findMember(members, "a");
  expect(bytes.toString("utf8", found?.start, found?.end)).toBe("2");
});

test("scanElements stops one behind the limit", () => {
  const bytes = Buffer.from(`[${"1,".repeat(500)}1]`);
  expect(scanElements(bytes, 0, bytes.length, plenty, 100)).toHaveLength(101);
});
