import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDense, toElementLines as toLines } from "./element-lines.ts";

const toElementLines = (text: string): string => (isDense(Buffer.from(text), "plain") ? toLines(text, false) : text);

describe("JSON that was written without line ends", () => {
  test("gets a line for each object of an array", () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}`, note: "a, b, and [c, {d" }));
    const lines = toElementLines(JSON.stringify(rows)).split("\n");
    expect(lines).toHaveLength(100);
    expect(lines[7]).toBe(`${JSON.stringify(rows[7])},`);
  });

  test("keeps short scalars together on lines", () => {
    const lines = toElementLines(JSON.stringify(Array.from({ length: 5_000 }, (_, n) => n))).split("\n");
    expect(lines.length).toBeLessThan(200);
    for (const line of lines) expect(line.length).toBeLessThan(200);
  });

  test("means the same as before, whatever it holds", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify([value, "x".repeat(3_000), value]);
        expect(JSON.parse(toElementLines(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("is left alone when it has lines, and so is what is no JSON", () => {
    const pretty = JSON.stringify(
      Array.from({ length: 500 }, (_, id) => ({ id })),
      null,
      2,
    );
    expect(toElementLines(pretty)).toBe(pretty);
    const prose = "one, two, { three ".repeat(1_000);
    expect(toElementLines(prose)).toBe(prose);
  });

  test("that breaks off inside a string or an escape does no harm", () => {
    for (const text of [`["${"a".repeat(2_000)}`, `[${"1,".repeat(2_000)}"\\`, `{"a":"${"b".repeat(2_000)}\\"`])
      expect(toElementLines(text).replaceAll("\n", "")).toBe(text);
  });
});
