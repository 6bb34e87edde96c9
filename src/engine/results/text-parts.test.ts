import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../catalog/exposure/token-estimate.ts";
import { endOfPart } from "./text-parts.ts";

function partsOf(text: string, maxTokens: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = endOfPart(text, at, maxTokens);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

describe("the parts of a long text", () => {
  test("end behind a line where there is one", () => {
    const text = Array.from({ length: 200 }, (_, line) => `line ${line} of the report\n`).join("");
    const parts = partsOf(text, 100);
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts) expect(part.endsWith("\n")).toBe(true);
    expect(parts.join("")).toBe(text);
  });

  test("end behind a word where lines are longer than a part", () => {
    const parts = partsOf("lorem ipsum dolor sit amet ".repeat(300), 50);
    for (const part of parts) expect(part.endsWith(" ")).toBe(true);
  });

  test("of one endless word are still finite, and no character is split", () => {
    const text = "🦆".repeat(500);
    const parts = partsOf(text, 7);
    expect(parts.join("")).toBe(text);
    for (const part of parts) expect(Buffer.from(part, "utf8").toString("utf8")).toBe(part);
    expect(partsOf("a".repeat(5_000), 10).join("")).toBe("a".repeat(5_000));
  });

  test("a text that fits is one part", () => {
    expect(partsOf("short", 100)).toEqual(["short"]);
  });

  test("together they are the text, whatever it is, and none is empty or much over its budget", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 2_000 }), fc.integer({ min: 8, max: 200 }), (text, most) => {
        const parts = partsOf(text, most);
        expect(parts.join("")).toBe(text);
        for (const part of parts) {
          expect(part).not.toBe("");
          expect(estimateTokens(part)).toBeLessThanOrEqual(Math.ceil(most * 1.1) + 1);
        }
      }),
    );
  });
});
