import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atOnce } from "../../../test/harness/at-once.ts";
import { shortenJson as shortenInSlices, type ShortenedJson } from "./shorter-json.ts";

function shortened(value: unknown, budget: number) {
  const { bytes, arrays } = shortenJson(Buffer.from(JSON.stringify(value)), budget);
  return { value: JSON.parse(bytes.toString("utf8")) as unknown, length: bytes.length, arrays };
}

const shortenJson = (bytes: Buffer, budget: number): ShortenedJson => atOnce(shortenInSlices(bytes, budget));

describe("a JSON value that is made shorter", () => {
  test("keeps the first elements of an array, whole, and says how many", () => {
    const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const { value, length, arrays } = shortened({ total: 1_000, rows, next: "abc" }, 2_000);
    const { rows: kept, ...rest } = value as { rows: unknown[] };
    expect(rest).toEqual({ total: 1_000, next: "abc" });
    expect(kept).toEqual(rows.slice(0, kept.length));
    expect(length).toBeLessThanOrEqual(2_000);
    expect(length).toBeGreaterThan(1_500);
    expect(arrays).toEqual([{ path: "rows", kept: kept.length, of: 1_000 }]);
  });

  test("keeps an element of which even the first is too large, and makes that shorter", () => {
    const { value } = shortened([{ page: "x".repeat(50_000), id: 7 }], 1_000);
    const [first] = value as [{ page: string; id: number }];
    expect(first.id).toBe(7);
    expect(first.page).toMatch(/^x{500,}…$/);
  });

  test("gives large members what the small ones leave", () => {
    const { value, length } = shortened({ a: "short", b: "b".repeat(9_000), c: "c".repeat(9_000) }, 4_000);
    const { a, b, c } = value as Record<string, string>;
    expect(a).toBe("short");
    expect(Math.abs((b ?? "").length - (c ?? "").length)).toBeLessThan(5);
    expect(length).toBeLessThanOrEqual(4_010);
  });

  test("keeps every byte of numbers that JavaScript would change", () => {
    const bytes = Buffer.from(`{"n":[9007199254740993,-0,1e400],"text":"${"a".repeat(5_000)}"}`);
    expect(shortenJson(bytes, 500).bytes.toString()).toContain('{"n":[9007199254740993,-0,1e400]');
  });

  test.each([
    ["escapes", '\\"\\\\\\n'.repeat(400)],
    ["pairs of escapes for one character", "\\ud83e\\udd86".repeat(300)],
    ["characters of several bytes", "🦆äß漢".repeat(300)],
    ["backslashes only", "\\\\".repeat(1_000)],
  ])("a string of %s is cut to a valid one at any budget", (_what, inner) => {
    const bytes = Buffer.from(`"${inner}"`);
    const whole = JSON.parse(bytes.toString("utf8")) as string;
    for (let budget = 8; budget < 120; budget += 1) {
      const cut = JSON.parse(shortenJson(bytes, budget).bytes.toString("utf8")) as string;
      expect(cut.endsWith("…")).toBe(true);
      expect(whole.startsWith(cut.slice(0, -1))).toBe(true);
      expect(Buffer.from(cut, "utf8").toString("utf8")).toBe(cut);
    }
  });

  test("is valid JSON of the same kind, whatever it was and however little it may be", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 200 }), (value, budget) => {
        const cut = shortened(value, budget).value;
        expect(Array.isArray(cut)).toBe(Array.isArray(value));
        expect(typeof cut).toBe(typeof value);
        if (typeof value === "object" && value !== null && !Array.isArray(value))
          expect(Object.keys(cut as object)).toEqual(Object.keys(value));
      }),
    );
  });

  test("is the same bytes when it fits", () => {
    const bytes = Buffer.from(' { "a" : [1, 2] } '.trim());
    expect(shortenJson(bytes, 100).bytes.toString()).toBe('{ "a" : [1, 2] }');
  });
});
